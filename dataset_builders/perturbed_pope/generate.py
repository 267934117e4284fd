"""POPE-style questions for a user's own COCO-style pictures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from hashlib import sha256

from lookcheck.dataset_builders.perturbed_pope import constants
from lookcheck.dataset_builders.perturbed_pope.instances import Instances
from lookcheck.dataset_builders.perturbed_pope.questions import Question, ask

PER_ANSWER = 3


def generate(instances: Instances, *, seed: int = 0, per_answer: int = PER_ANSWER) -> tuple[Question, ...]:
    """Ask for present and absent objects, as many of each for a picture.

    Present objects are the same in all three splits. Absent ones are sampled as POPE does: `random`
    among all absent categories, `popular` the most frequent ones of the whole set, `adversarial` those
    that most often stand beside what the picture shows.

    Parameters
    ----------
    instances : Instances
    seed : int
        Goes into every choice, together with image, split and category; order plays no part.
    per_answer : int
        Questions with each answer for a picture, fewer where a picture shows fewer categories.

    Returns
    -------
    tuple of Question
        By split, then by file name; yes and no take turns.
    """
    present = {
        name: sorted({item.category for item in instances.by_image.get(photo.id, [])})
        for name, photo in sorted(instances.photos.items())
    }
    frequency = Counter(category for found in present.values() for category in found)
    beside = _beside(present)
    questions = []
    for split in constants.SPLITS:
        number = 0
        for name, found in present.items():
            absent = [category for category in sorted(instances.supercategories) if category not in found]
            count = min(per_answer, len(found), len(absent))

            def chance(category: str, name: str = name, split: str = split) -> str:
                return sha256(f"{seed}/{name}/{split}/{category}".encode()).hexdigest()

            chosen = sorted(found, key=lambda category, name=name: _chance(seed, name, category))[:count]
            if split == "random":
                wrong = sorted(absent, key=chance)
            elif split == "popular":
                wrong = sorted(absent, key=lambda category: (-frequency[category], chance(category)))
            else:
                scores = {category: sum(beside[one][category] for one in found) for category in absent}
                wrong = sorted(
                    absent, key=lambda category: (-scores[category], -frequency[category], chance(category))
                )
            for pair in zip(chosen, wrong, strict=False):
                for category, label in zip(pair, ("yes", "no"), strict=True):
                    number += 1
                    where = f"generated {split} question {number}"
                    questions.append(
                        Question(split, str(number), name, ask(category), category, label, where)
                    )
    return tuple(questions)


def _chance(seed: int, name: str, category: str) -> str:
    return sha256(f"{seed}/{name}/{category}".encode()).hexdigest()


def _beside(present: Mapping[str, list[str]]) -> Mapping[str, Counter[str]]:
    beside: dict[str, Counter[str]] = defaultdict(Counter)
    for found in present.values():
        for one in found:
            beside[one].update(category for category in found if category != one)
    return beside
