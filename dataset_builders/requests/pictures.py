"""Pictures of a data set as requests name them, and their bytes when a model is asked."""

from __future__ import annotations

import hashlib
import io
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image, ImageOps

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.parquet.reader import Row, read_rows
from lookcheck.dataset_builders.requests.request import Picture

# Row groups whose pictures stay in memory: a writer's groups hold 100 MB at most, and readers go forward.
_KEPT_GROUPS = 2


def read_with_pictures(
    paths: Sequence[Path], columns: Sequence[str], pictures: Sequence[str], *, optional: Sequence[str] = ()
) -> Iterator[tuple[str, Row]]:
    """Yield rows with their place, the columns `pictures` as `Picture` or None.

    Parameters
    ----------
    paths : sequence of Path
        Parquet files.
    columns, pictures : sequence of str
        Columns that every file must have.
    optional : sequence of str

    Raises
    ------
    InputError
        If a file can't be read, or a picture's header can't.
    """
    for path in paths:
        earlier: dict[str, tuple[bytes, Picture]] = {}
        for number, row in enumerate(read_rows([path], [*columns, *pictures], optional=optional)):
            where = f"{path} row {number}"
            for name in pictures:
                row[name] = _picture(where, path, number, name, row[name], earlier)
            yield where, row


def _picture(
    where: str,
    path: Path,
    number: int,
    column: str,
    value: Mapping[str, Any] | None,
    earlier: dict[str, tuple[bytes, Picture]],
) -> Picture | None:
    if value is None:
        return None
    data = value["bytes"]
    if not isinstance(data, bytes):
        raise InputError(f"{where}: {column} holds no bytes; see lookcheck check")
    # Rows on one picture stand together: comparing is quicker than hashing and reading the header.
    if column not in earlier or earlier[column][0] != data:
        made = Picture(path, number, column, hashlib.sha256(data).hexdigest(), _size(data, where))
        earlier[column] = data, made
    return earlier[column][1]


def picture_of_file(path: Path) -> Picture:
    """A picture that is a file of its own.

    Raises
    ------
    InputError
        If there is no such file, or it is no picture.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: can't be read ({error.strerror or error})") from None
    return Picture(path, None, "", hashlib.sha256(data).hexdigest(), _size(data, str(path)))


class PictureReader:
    """Encoded bytes of pictures, read when they are needed; several threads may ask."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._files: dict[Path, tuple[pq.ParquetFile, list[int]]] = {}
        self._groups: OrderedDict[tuple[Path, str, int], pa.ChunkedArray] = OrderedDict()

    def read(self, picture: Picture) -> bytes:
        """The bytes of the picture's file.

        Raises
        ------
        InputError
            If it can't be read, or has changed since the request was made.
        """
        if picture.row is None:
            where = str(picture.file)
            try:
                data = picture.file.read_bytes()
            except OSError as error:
                raise InputError(f"{where}: can't be read ({error.strerror or error})") from None
        else:
            where = f"{picture.file} row {picture.row}"
            with self._lock:
                try:
                    data = self._of_row(picture.file, picture.column, picture.row)
                except (pa.ArrowException, OSError, IndexError) as error:
                    raise InputError(f"{where}: can't be read as Parquet ({error})") from None
        if hashlib.sha256(data).hexdigest() != picture.sha256:
            raise InputError(f"{where}: the picture has changed while it was in use")
        return data

    def close(self) -> None:
        """Close the files."""
        with self._lock:
            for file, _ in self._files.values():
                file.close()
            self._files.clear()
            self._groups.clear()

    def _of_row(self, path: Path, column: str, row: int) -> bytes:
        if path not in self._files:
            file = pq.ParquetFile(path)
            starts = [0]
            for group in range(file.num_row_groups):
                starts.append(starts[-1] + file.metadata.row_group(group).num_rows)
            self._files[path] = file, starts
        file, starts = self._files[path]
        group = next(index for index in range(len(starts) - 1) if row < starts[index + 1])
        key = path, column, group
        if key not in self._groups:
            self._groups[key] = file.read_row_group(group, columns=[f"{column}.bytes"]).column(0)
            while len(self._groups) > _KEPT_GROUPS:
                self._groups.popitem(last=False)
        self._groups.move_to_end(key)
        found: bytes = self._groups[key][row - starts[group]].as_py()["bytes"]
        return found


def opened(data: bytes) -> Image.Image:
    """The picture as people see it, in RGB: turned as its EXIF says, transparency on white."""
    with Image.open(io.BytesIO(data)) as image:
        turned = ImageOps.exif_transpose(image)
        if turned.mode in {"RGBA", "LA", "PA"} or "transparency" in turned.info:
            full = turned.convert("RGBA")
            plain = Image.new("RGBA", full.size, "white")
            plain.alpha_composite(full)
            turned = plain
        return turned.convert("RGB")


def _size(data: bytes, where: str) -> tuple[int, int]:
    try:
        with Image.open(io.BytesIO(data)) as image:
            width, height = image.size
            turned = image.getexif().get(274, 1) in (5, 6, 7, 8)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise InputError(f"{where}: not a picture ({error})") from None
    return (height, width) if turned else (width, height)
