"""Text of any script in a picture: wrapped, and in a font of this machine that has its characters."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from PIL import ImageDraw, ImageFont, features

Font = ImageFont.FreeTypeFont

# No font has a glyph for a noncharacter: what looks like it is missing.
_MISSING = "\U0010fffe"
_PLACES = (
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "~/.local/share/fonts",
    "~/.fonts",
    "/System/Library/Fonts",
    "/Library/Fonts",
    "~/Library/Fonts",
    "C:/Windows/Fonts",
)
# Tried first: they hold many scripts.
_KNOWN = (
    "DejaVuSans.",
    "NotoSans-Regular",
    "NotoSansCJK-Regular",
    "Arial Unicode",
    "PingFang",
    "msyh",
    "unifont",
)


class Lettering:
    """Draws text of one size.

    Parameters
    ----------
    size : int
        In pixels.
    """

    def __init__(self, size: int) -> None:
        self.size = size

    def wrap(self, text: str, room: int, most: int) -> list[str]:
        """The lines of a text; a word that is too long is broken, and more than `most` lines end in "…"."""
        lines: list[str] = []
        line = ""
        for word in _shown(text, self.size).split():
            joined = f"{line} {word}" if line else word
            if self.width(joined) <= room:
                line = joined
                continue
            lines += [line] if line else []
            # One character at a time, and one at least: a word may have thousands.
            line = ""
            for character in word:
                if line and self.width(line + character) > room:
                    lines.append(line)
                    line = ""
                line += character
            if len(lines) > most:
                break
        lines += [line] if line else []
        if len(lines) > most:
            last = lines[most - 1]
            while last and self.width(last + "…") > room:
                last = last[:-1]
            lines = [*lines[: most - 1], last.rstrip() + "…"]
        return lines

    def width(self, line: str) -> float:
        """Of a line, in pixels."""
        return sum(font.getlength(part) for font, part in self._parts(line))

    def draw(
        self, draw: ImageDraw.ImageDraw, at: tuple[int, int], line: str, colour: tuple[int, int, int]
    ) -> None:
        """Draw a line; `at` is its left end, at the top of its letters."""
        x, y = float(at[0]), at[1] + self.size
        for font, part in self._parts(line):
            draw.text((x, y), part, colour, font, anchor="ls")
            x += font.getlength(part)

    def _parts(self, line: str) -> Iterator[tuple[Font, str]]:
        """The line in one font if one has all of it, which keeps its direction; else in pieces."""
        fonts = [_font_for(character, self.size) or _own(self.size) for character in line]
        whole = next((font for font in dict.fromkeys(fonts) if _has_all(font, line)), None)
        if whole is not None or not line:
            yield whole or _own(self.size), line
            return
        start = 0
        for place in range(1, len(line) + 1):
            if place == len(line) or fonts[place] is not fonts[start]:
                yield fonts[start], line[start:place]
                start = place


def _shown(text: str, size: int) -> str:
    """The text with the code points of what no font has in place of it."""
    return "".join(
        character if _blank(character) or _font_for(character, size) else f"[U+{ord(character):04X}]"
        for character in unicodedata.normalize("NFC", text)
    )


def _blank(character: str) -> bool:
    """White space, and marks that change their neighbours without being seen."""
    return character.isspace() or unicodedata.category(character) in ("Cf", "Mn")


def _has_all(font: Font, line: str) -> bool:
    return all(_blank(character) or _has(font, character) for character in line)


@lru_cache(maxsize=1 << 16)
def _has(font: Font, character: str) -> bool:
    def glyph(text: str) -> tuple[tuple[float, ...], bytes]:
        return font.getbbox(text), bytes(font.getmask(text))

    return glyph(character) != glyph(_MISSING)


@lru_cache(maxsize=1 << 16)
def _font_for(character: str, size: int) -> Font | None:
    """The first font that has a character: Pillow's own, or one of the machine's."""
    if _blank(character) or _has(_own(size), character):
        return _own(size)
    fonts = (_load(path, size) for path in _installed())
    return next((font for font in fonts if font is not None and _has(font, character)), None)


@lru_cache(maxsize=8)
def _own(size: int) -> Font:
    font = ImageFont.load_default(size)
    if not isinstance(font, Font):
        raise RuntimeError("Pillow was built without FreeType, which draws letters")
    return font


@lru_cache(maxsize=256)
def _load(path: str, size: int) -> Font | None:
    # Raqm joins Arabic letters and sets lines from right to left; without it they stand apart.
    engine = ImageFont.Layout.RAQM if features.check("raqm") else ImageFont.Layout.BASIC
    try:
        return ImageFont.truetype(path, size, layout_engine=engine)
    except OSError:
        return None


@lru_cache(maxsize=1)
def _installed() -> Sequence[str]:
    """Upright fonts of the machine: the widest first, then by name."""
    found = [
        str(path)
        for place in _PLACES
        if (sys.platform == "win32") == (place[1] == ":")
        for path in Path(place).expanduser().rglob("*.[to]t[fc]")
        if not any(
            style in path.stem for style in ("Bold", "Italic", "Oblique", "Mono", "Condensed", "Light")
        )
    ]

    def rank(path: str) -> tuple[int, str]:
        name = Path(path).name
        return next((n for n, known in enumerate(_KNOWN) if name.startswith(known)), len(_KNOWN)), name

    return sorted(found, key=rank)
