"""Perturbed POPE on the page: every condition of a question beside its original."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.processes import Track
from lookcheck.dataset_builders.display.drawing import COLOURS
from lookcheck.dataset_builders.display.items import Item, Overlay, Picture, Question, facts_of
from lookcheck.dataset_builders.display.media import Media
from lookcheck.dataset_builders.display.view import View
from lookcheck.dataset_builders.parquet.reader import BuiltFolder, Choice, Row, count_rows, read_rows
from lookcheck.dataset_builders.perturbed_pope import constants
from lookcheck.dataset_builders.perturbed_pope.conditions import CONDITIONS, ORIGINAL, Condition
from lookcheck.dataset_builders.perturbed_pope.questions import article

FACETS = ("category", "condition", "answer", "flag", "entity")
ORDERS = {
    "category": constants.SPLITS,
    "condition": tuple(CONDITIONS),
    "answer": ("yes", "no"),
}
COLUMNS = (
    "id",
    "parent_id",
    "category",
    "image",
    "question",
    "answer",
    "entity",
    "condition",
    "strength",
    "seed",
    "mask_rle",
    "masked_fraction",
)
OPTIONAL = (
    "no_instance",
    "tiny_entity",
    "donor",
    "donor_box",
    "question_unknown_option",
    "question_open_ended",
    "license",
    "license_url",
    "source_url",
)
# Of the mask: neither the black of the masks nor a colour of most photographs.
COLOUR = COLOURS[4]


def configs_of(folder: BuiltFolder, choice: Choice) -> tuple[str, list[str]]:
    """The configuration whose rows are the items, and those put beside them.

    A named configuration is shown beside the originals alone; otherwise `original` has all others
    beside it.
    """
    if choice.config is not None:
        folder.splits(choice.config)
        return choice.config, [name for name in folder.configs if name == ORIGINAL != choice.config]
    base = ORIGINAL if ORIGINAL in folder.configs else next(iter(folder.configs))
    return base, [name for name in folder.configs if name != base]


def count_items(folder: BuiltFolder, choice: Choice) -> int:
    """Questions of the chosen rows."""
    base, _ = configs_of(folder, choice)
    if found := _count(folder, base, choice.split):
        return found
    raise InputError(f"{folder.path}: {base} has neither a split nor a category {choice.split!r}")


def iterate_items(folder: BuiltFolder, media: Media, choice: Choice, track: Track) -> Iterator[Item]:
    """Yield an item for each question; rows are joined by ``parent_id``.

    Raises
    ------
    InputError
        If a question has two rows of one condition.
    """
    base, others = configs_of(folder, choice)
    total = count_items(folder, choice)
    step = track(f"reading {base}", total if choice.limit is None else min(choice.limit, total))
    items: dict[str, Item] = {}
    for row in islice(_rows(folder, base, choice.split), choice.limit):
        _add(items, row, media)
        step()
    # With a limit, rows of other questions are not asked for; without, they get an item of their own.
    wanted = frozenset(items) if choice.limit is not None or choice.config is not None else None
    for config in others:
        if choice.split is not None and not {choice.split, constants.ONE_SPLIT} & set(folder.configs[config]):
            continue
        step = track(f"reading {config}", _count(folder, config, choice.split))
        for row in _rows(folder, config, choice.split, wanted):
            _add(items, row, media)
            step()
    for item in items.values():
        yield _finished(item)


def _rows(
    folder: BuiltFolder, config: str, split: str | None, wanted: Collection[str] | None = None
) -> Iterator[Row]:
    paths, category = _files(folder, config, split)
    keep = None if wanted is None else ("parent_id", wanted)
    if keep is None and category is not None:
        keep = ("category", {category})
    for row in read_rows(paths, COLUMNS, optional=OPTIONAL, keep=keep):
        if category in (None, row["category"]):
            yield row


def _files(folder: BuiltFolder, config: str, split: str | None) -> tuple[list[Path], str | None]:
    """Files of a split, and the category to keep if all lie in one split: it is named as a split is."""
    category = None
    if split not in (None, *folder.configs[config]) and constants.ONE_SPLIT in folder.configs[config]:
        split, category = constants.ONE_SPLIT, split
    return [path for paths in folder.splits(config, split).values() for path in paths], category


def _count(folder: BuiltFolder, config: str, split: str | None) -> int:
    paths, category = _files(folder, config, split)
    if category is None:
        return count_rows(paths)
    return sum(1 for _ in read_rows(paths, ["category"], keep=("category", {category})))


def _add(items: dict[str, Item], row: Row, media: Media) -> None:
    parent = row["parent_id"]
    if parent not in items:
        items[parent] = _new_item(row)
    item = items[parent]
    if any(picture.label == row["condition"] for picture in item.pictures):
        raise InputError(f"{row['id']}: the question {parent} has two rows of {row['condition']}")
    picture = _picture(row, media)
    # The original comes first, wherever its configuration stands.
    pictures = (picture, *item.pictures) if row["condition"] == ORIGINAL else (*item.pictures, picture)
    items[parent] = replace(item, pictures=pictures)


def _new_item(row: Row) -> Item:
    flags = [
        name for name, set_ in (("no instance", "no_instance"), ("tiny entity", "tiny_entity")) if row[set_]
    ]
    facets: dict[str, tuple[str, ...]] = {
        "category": (row["category"],),
        "entity": (row["entity"],),
        "flag": tuple(flags),
    }
    facts = facts_of(
        ("id", row["parent_id"]),
        ("entity", row["entity"]),
        ("flags", flags),
        ("category", row["category"]),
        ("with unknown", row["question_unknown_option"]),
        ("open-ended", row["question_open_ended"]),
        ("licence", row["license"]),
        ("licence text", row["license_url"]),
        ("source", row["source_url"]),
    )
    return Item(row["parent_id"], row["question"], "", (), facets, (), facts)


def _picture(row: Row, media: Media) -> Picture:
    condition = CONDITIONS.get(row["condition"])
    about = _about(row, condition) if condition else ""
    # The row has the label of the unperturbed picture, unless the object gave way to another thing.
    inherited = condition is not None and condition.name != ORIGINAL and not condition.removes
    name = "Label of the original" if inherited else ""
    facts = facts_of(
        ("row", row["id"]),
        ("strength", row["strength"]),
        ("seed", None if row["seed"] is None else str(row["seed"])),
        ("masked", None if row["masked_fraction"] is None else f"{100 * row['masked_fraction']:.3g} %"),
        ("put there", row["donor"]),
        ("at", None if row["donor_box"] is None else _box(row["donor_box"])),
    )
    stored = thumb = None
    overlays: tuple[Overlay, ...] = ()
    if row["image"] is not None:
        stored, thumb = media.add(row["image"], f"{row['id']}: image")
        if row["mask_rle"] is not None:
            where = f"{row['id']}: mask_rle"
            # The picture itself shows what was done; the mask is for seeing whether all of it was.
            overlays = (media.add_rle(row["mask_rle"], stored, "mask", COLOUR, where),)
    return Picture(
        row["condition"],
        stored,
        thumb,
        None,
        about,
        overlays,
        (Question(row["question"], row["answer"], answer_name=name),),
        facts,
        f"{row['condition']} · {name.lower() or 'answer'}: {row['answer']}",
        {"condition": (row["condition"],), "answer": (row["answer"],)},
    )


def _about(row: Row, condition: Condition) -> str:
    """What was done, with the names of the things."""
    about = condition.about.replace("the asked object", f"the {row['entity']}")
    if row["donor"] is not None:
        about = about.replace("another thing", f"{article(row['donor'])} {row['donor']}")
    return about


def _finished(item: Item) -> Item:
    """The item with what only all of its rows know."""
    pictures = item.pictures
    answers = [picture.facets["answer"][0] for picture in pictures]
    facets = {
        **item.facets,
        "condition": tuple(picture.label for picture in pictures),
        "answer": tuple(dict.fromkeys(answers)),
    }
    if pictures[0].label == ORIGINAL:
        others = len(pictures) - 1
        note = answers[0] if not others else f"{answers[0]} · {others} condition{'s' if others > 1 else ''}"
        pictures = (replace(pictures[0], note=note), *pictures[1:])
    else:
        # Said, and not left as a gap: there is nothing to compare with.
        pictures = (Picture(ORIGINAL, None, about="The original is not in this folder."), *pictures)
    return replace(item, pictures=pictures, facets=facets)


def _box(box: list[float]) -> str:
    return "[" + ", ".join(f"{side:g}" for side in box) + "]"


VIEW = View(
    constants.PRETTY_NAME,
    ("question", "questions"),
    "Masks",
    FACETS,
    ORDERS,
    iterate_items,
    count_items,
    "condition",
    legend="Beside each original stands what was made of it; a mask can be shown over both.",
    explained={"condition": {name: condition.about for name, condition in CONDITIONS.items()}},
)
