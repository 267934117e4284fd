"""What answering without looking reaches on the same rows; to be printed beside every score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .figures import answer_figures
from .pairing import Pair
from .samples import Row

BASELINES = ("always_yes", "always_no", "copy_original")


def baselines(rows: Sequence[Row], pairs: Sequence[Pair], unparsed: str) -> dict[str, dict[str, Any]]:
    """Answer figures of one condition and split for the three policies that do not look.

    Parameters
    ----------
    rows : sequence of dict
        The condition's rows of the split.
    pairs : sequence of (original, perturbed)
        Those of them that have an original; on original rows each beside itself.
    unparsed : {"wrong", "drop"}

    Returns
    -------
    dict
        ``always_yes``; ``always_no``; ``copy_original``, which repeats the answer that the model gave to
        the original row. An unpaired row has nothing to repeat and is not in that one's ``n``.

    Examples
    --------
    >>> before = {"label": "yes", "answer": "yes"}
    >>> after = {"label": "no", "answer": "no"}
    >>> found = baselines([after], [(before, after)], "wrong")
    >>> {name: figures["accuracy"] for name, figures in found.items()}
    {'always_yes': 0.0, 'always_no': 1.0, 'copy_original': 0.0}
    """
    return {
        "always_yes": answer_figures(((row["label"], "yes") for row in rows), unparsed),
        "always_no": answer_figures(((row["label"], "no") for row in rows), unparsed),
        "copy_original": answer_figures(
            ((after["label"], before["answer"]) for before, after in pairs), unparsed
        ),
    }
