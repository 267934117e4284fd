"""Questions for anybody's images with COCO-style instances, sampled as POPE samples its own."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.perturbed_pope import constants
from lookcheck.dataset_builders.perturbed_pope.instances import Instances, Photo
from lookcheck.dataset_builders.perturbed_pope.perturbations import image_key, seed_of
from lookcheck.dataset_builders.perturbed_pope.questions import Question, QuestionFile, ask

LAYOUT = "generated"


def generate_questions(instances: Instances, per_answer: int = 3) -> tuple[QuestionFile, ...]:
    """Make the three splits: for each image as many questions to be answered yes as no.

    Objects to be answered yes are drawn from the categories of the image, and are the same in the
    three splits. Each is followed by one to be answered no, which no annotation of the image holds:
    ``random`` draws it; ``popular`` takes the category that most images hold; ``adversarial`` the
    category that stands most often together with the object just asked for, and draws where none does.
    Drawing depends on the names of split and image alone.

    Parameters
    ----------
    instances : Instances
    per_answer : int
        Questions of each answer for an image at most; an image with fewer categories, or with fewer
        that it lacks, gets fewer. An image without an instance gets none.

    Raises
    ------
    InputError
        If no image gets a question.
    """
    present = {
        photo: frozenset(item.category for item in instances.by_image.get(photo.id, ()))
        for photo in sorted(instances.photos.values(), key=lambda photo: photo.file_name)
    }
    often = Counter(category for found in present.values() for category in found)
    together: dict[str, Counter[str]] = defaultdict(Counter)
    for found in present.values():
        for category in found:
            together[category].update(found - {category})
    popular = _ranked(often)
    company = {category: _ranked(others) for category, others in together.items()}
    files = []
    for split in constants.SPLITS:
        asked = {
            photo: _pairs(photo, found, split, sorted(often), popular, company, per_answer)
            for photo, found in present.items()
        }
        files.append(QuestionFile(split, LAYOUT, _number(split, asked)))
    if not files[0].questions:
        raise InputError("no question can be asked: no image has an instance and lacks another's category")
    return tuple(files)


def _ranked(counts: Counter[str]) -> list[str]:
    return sorted(counts, key=lambda category: (-counts[category], category))


def _pairs(
    photo: Photo,
    found: frozenset[str],
    split: str,
    categories: Sequence[str],
    popular: Sequence[str],
    company: Mapping[str, Sequence[str]],
    per_answer: int,
) -> list[tuple[str, str]]:
    name = image_key(photo.file_name)
    absent = [category for category in categories if category not in found]
    number = min(per_answer, len(found), len(absent))
    # The same in every split, so that perturbed pictures are shared.
    wanted = sorted(found, key=lambda category: seed_of(name, "yes", category))[:number]
    pairs = []
    for category in wanted:
        ranked = {"random": (), "popular": popular, "adversarial": company[category]}[split]
        first = next((other for other in ranked if other in absent), None)
        other = first or min(absent, key=lambda category: seed_of(name, split, "no", category))
        absent.remove(other)
        pairs.append((category, other))
    return pairs


def _number(split: str, asked: Mapping[Photo, list[tuple[str, str]]]) -> tuple[Question, ...]:
    questions = []
    for photo, pairs in asked.items():
        name = image_key(photo.file_name)
        for place, category in enumerate(category for pair in pairs for category in pair):
            # Not a running number: a question keeps its id when images are added.
            number, label = f"{name}-{place + 1}", constants.ANSWERS[1 - place % 2]
            questions.append(
                Question(split, number, photo.file_name, ask(category), category, label, f"{LAYOUT} {number}")
            )
    return tuple(questions)
