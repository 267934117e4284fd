"""Draw README's picture, readme.png, from two built samples.

lookcheck build perturbed-pope --source sample --condition black_mask --condition entity_swap \\
  --output perturbed
lookcheck build vistaqa --source sample --output vistaqa
python .github/readme.py perturbed vistaqa
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from datasets import Image as Picture
from datasets import load_dataset
from PIL import Image, ImageDraw, ImageFont, ImageOps

from lookcheck.scripts.view.sheet import INK, PAPER, SOFT

PARENT = "random-traffic_lights-1-1"
EVIDENCE = "0002"
TILE, GAP, LINE = (460, 345), 20, 30


def main() -> None:
    """Write readme.png beside this file."""
    perturbed, vistaqa = sys.argv[1:]
    tiles = []
    for condition, said in (
        ("original", "the picture as it is: yes"),
        ("black_mask", "its pixels black: who looks hesitates"),
        ("entity_swap", "something else in its place: no"),
    ):
        data = load_dataset(perturbed, condition)
        rows = [row for split in data.values() for row in split.cast_column("image", Picture(decode=False))]
        row = next(row for row in rows if row["parent_id"] in (PARENT, None) and row["id"].startswith(PARENT))
        tiles.append((row["image"]["bytes"], row["question"], said))
    data = load_dataset(vistaqa, split="test").cast_column("evidence_overlay", Picture(decode=False))
    row = next(row for row in data if row["id"] == EVIDENCE)
    tiles.append(
        (row["evidence_overlay"]["bytes"], row["question"], f"{row['answer']}, and where it is seen")
    )
    sheet = Image.new("RGB", (len(tiles) * (TILE[0] + GAP) + GAP, TILE[1] + 2 * LINE + 3 * GAP), PAPER)
    draw = ImageDraw.Draw(sheet)
    for number, (picture, question, said) in enumerate(tiles):
        x = GAP + number * (TILE[0] + GAP)
        with Image.open(io.BytesIO(picture)) as image:
            sheet.paste(ImageOps.fit(image.convert("RGB"), TILE, Image.Resampling.LANCZOS), (x, GAP))
        for line, (text, colour) in enumerate(((question, INK), (said, SOFT))):
            font = ImageFont.load_default(22)
            draw.text((x, TILE[1] + 2 * GAP + line * LINE), text, colour, font)
    sheet.quantize(255, dither=Image.Dither.NONE).save(Path(__file__).with_name("readme.png"), optimize=True)


if __name__ == "__main__":
    main()
