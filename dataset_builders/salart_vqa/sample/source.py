"""The sample as a source, in the form that upstream's files have."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from lookcheck.dataset_builders.pictures.photographs import credits, photographs
from lookcheck.dataset_builders.salart_vqa import constants
from lookcheck.dataset_builders.salart_vqa.rows import ChainJob
from lookcheck.dataset_builders.salart_vqa.sample.chains import CHAINS, CLOCK, NONE, Chain
from lookcheck.dataset_builders.salart_vqa.sample.clock import clock
from lookcheck.dataset_builders.salart_vqa.sources import SalArtSource

_PROMPTS = {
    "q1_prompt": "Does this picture have a visible generation artifact? Answer yes or no.",
    "q2_prompt": "Where is the artifact? Answer with one letter.",
    "q3_prompt": "Four boxes are drawn over the picture: A red, B blue, C cyan, D orange. Which of them "
    "holds the artifact? Answer with one letter, or E if none of them does.",
    "q4_prompt": "What shows that this is an artifact? Answer with one letter.",
}


def sample_source(workspace: Path) -> SalArtSource:
    """Make the pictures of the sample.

    Parameters
    ----------
    workspace : Path
        The pictures are written there; must outlive the build.
    """
    images = {picture.name: picture.image for picture in photographs()}
    images[CLOCK] = clock()
    jobs = []
    for chain in CHAINS:
        image = images[chain.picture]
        if chain.crop is not None:
            left, top, right, bottom = chain.crop
            image = image[top:bottom, left:right]
        if chain.edit is not None:
            jobs.append(_job(chain, constants.ARTIFACT, chain.edit(image), workspace))
        jobs.append(_job(chain, _reference_role(chain), image, workspace))
    return SalArtSource(tuple(jobs), {"kind": "sample", "credits": credits()}, declared_counts())


def declared_counts() -> dict[str, Any]:
    """The counts of the sample; ``rows`` are those of the largest configuration."""
    roles = Counter(_reference_role(chain) for chain in CHAINS)
    roles[constants.ARTIFACT] = sum(chain.edit is not None for chain in CHAINS)
    images = sum(roles.values())
    return {
        "rows": len(constants.QUESTIONS) * images - roles[constants.GENERATED],
        "images": images,
        "image_role": {role: roles[role] for role in constants.ROLES},
    }


def _reference_role(chain: Chain) -> str:
    """A photograph is a clean reference before its edit too; a drawing was generated."""
    return constants.GENERATED if chain.picture == CLOCK else constants.REAL


def _job(chain: Chain, role: str, image: np.ndarray, workspace: Path) -> ChainJob:
    id = "sample_" + sha256(f"{chain.name}/{role}".encode()).hexdigest()[:12]
    path = workspace / f"{id}.png"
    Image.fromarray(image).save(path)
    first = {constants.ARTIFACT: "yes", constants.REAL: "no", constants.GENERATED: None}[role]
    keys = chain.keys if role == constants.ARTIFACT else "EEE"
    fields: dict[str, Any] = {
        "row_id": id,
        "image_role": role,
        **_PROMPTS,
        "q2_options": dict(zip("ABCDE", (*chain.regions, NONE), strict=True)),
        "q4_options": dict(zip("ABCDE", (*chain.evidence, NONE), strict=True)),
        "q3_boxes": dict(zip("ABCD", map(list, chain.boxes), strict=True)),
        "q1_answer": first,
        **{f"{question}_answer": key for question, key in zip(("q2", "q3", "q4"), keys, strict=True)},
        "pair_id": None if chain.edit is None else f"sample_{chain.name.replace(' ', '_')}",
        "artifact_type": chain.artifact_type if role == constants.ARTIFACT else None,
    }
    return ChainJob(f"sample {chain.name}", fields, path, None)
