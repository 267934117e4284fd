"""Parquet shards for the Hub's viewer: small row groups, a page index, the same bytes every time."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq

from lookcheck.dataset_builders.parquet.encoding import MAX_ROW_BYTES, encode_row, size_of

# The viewer scans a row group at once and wants it under 100 MB.
GROUP_BYTES = 48_000_000
# Repeated pictures are counted once above; this bounds what stands in memory, repeats included.
GROUP_BYTES_IN_MEMORY = 160_000_000
MOST_IN_MEMORY = 3 * GROUP_BYTES_IN_MEMORY
SHARD_BYTES = 450_000_000
UNFINISHED = ".part"


class ShardWriter:
    """Writes the rows of one stem as one or more shards.

    The shards end in ``.part`` until `finish` gives their names: their number is known only then, and
    `load_dataset` must not read them before (it does read ``.parquet.part``).

    Parameters
    ----------
    folder : Path
        Existing folder.
    stem : str
    features : datasets.Features
    repeated_images : tuple of str
        Columns to be dictionary-encoded. A row group then ends where a new picture begins, so that a
        picture of neighbouring rows stands in one row group only.
    group_bytes, shard_bytes : int
        A row group or shard is closed when it has at least so many bytes.
    """

    def __init__(
        self,
        folder: Path,
        stem: str,
        features: datasets.Features,
        repeated_images: tuple[str, ...] = (),
        *,
        group_bytes: int = GROUP_BYTES,
        shard_bytes: int = SHARD_BYTES,
    ) -> None:
        self.folder = folder
        self.stem = stem
        self.features = features
        self.repeated_images = repeated_images
        self.group_bytes = group_bytes
        self.shard_bytes = shard_bytes
        self.rows = 0
        # Bytes of the distinct pictures in the columns of `repeated_images`.
        self.picture_bytes = 0
        # First column of the rows that the Hub's viewer does not show.
        self.large_rows: list[str] = []
        self._digests: set[bytes] = set()
        self._unfinished: list[Path] = []
        self._writer: pq.ParquetWriter | None = None
        self._shard_size = 0
        self._reset_group()

    def _reset_group(self) -> None:
        self._group: list[dict[str, Any]] = []
        self._group_size = 0
        self._group_in_memory = 0
        self._seen: set[bytes] = set()

    def write(self, row: dict[str, Any]) -> None:
        """Add one row."""
        encoded = encode_row(self.features, row)
        pictures = [
            encoded[column]["bytes"] for column in self.repeated_images if encoded[column] is not None
        ]
        whole = size_of(encoded)
        if whole >= MAX_ROW_BYTES:
            self.large_rows.append(str(next(iter(encoded.values()))))
        full = self._group_size >= self.group_bytes or self._group_in_memory >= GROUP_BYTES_IN_MEMORY
        # Rows that go on with the pictures of the group may stay, within reason.
        goes_on = pictures and self._seen.issuperset(pictures) and self._group_in_memory < MOST_IN_MEMORY
        if full and not goes_on:
            self._flush()
        self._group.append(encoded)
        self._group_size += whole
        self._group_in_memory += whole
        for data in pictures:
            if data in self._seen:
                self._group_size -= len(data)
            else:
                self._seen.add(data)
                self._count(data)
        self.rows += 1

    def _count(self, data: bytes) -> None:
        digest = hashlib.sha256(data).digest()
        if digest not in self._digests:
            self._digests.add(digest)
            self.picture_bytes += len(data)

    def _flush(self) -> None:
        if self._writer is None:
            path = self.folder / f"{self.stem}-{len(self._unfinished):05d}{UNFINISHED}"
            self._unfinished.append(path)
            self._writer = self._open(path)
        table = pa.Table.from_pylist(self._group, schema=self.features.arrow_schema)
        self._writer.write_table(table, row_group_size=max(1, len(self._group)))
        self._shard_size += self._group_size
        self._reset_group()
        if self._shard_size >= self.shard_bytes:
            self._close()

    def _open(self, path: Path) -> pq.ParquetWriter:
        dictionary = [f"{name}.{field}" for name in self.repeated_images for field in ("bytes", "path")]
        return pq.ParquetWriter(
            path,
            self.features.arrow_schema,
            compression="snappy",
            use_dictionary=dictionary or False,
            dictionary_pagesize_limit=4 * GROUP_BYTES_IN_MEMORY,
            write_page_index=True,
            # Min and max of a picture's bytes would only swell the footer.
            write_statistics=[name for name, kind in self.features.items() if _is_plain(kind)],
            # Page limits are looked at once a batch: few rows, so that a page of pictures stays small.
            write_batch_size=8,
        )

    def _close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._writer = None
        self._shard_size = 0

    def abandon(self) -> None:
        """Close the open file; nothing gets its final name."""
        self._close()

    def finish(self) -> dict[Path, Path]:
        """Write the last row group and close.

        Returns
        -------
        dict of Path to Path
            From each unfinished file to its final name; the caller renames them.
        """
        if self._group or not self._unfinished:
            self._flush()
        self._close()
        total = len(self._unfinished)
        return {
            path: self.folder / f"{self.stem}-{number:05d}-of-{total:05d}.parquet"
            for number, path in enumerate(self._unfinished)
        }


def _is_plain(kind: Any) -> bool:
    return isinstance(kind, datasets.Value | datasets.ClassLabel)
