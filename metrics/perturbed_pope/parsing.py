"""From a model's words to yes, no or unknown, or to none of them; two parsers, by name.

``strict``: the words *yes*, *no* and *unknown* are looked for, whatever their case, and exactly one of the
three must occur (it may occur twice). A word is a run of letters and digits. Anything else is no answer.

``official``: POPE's own script. The text before the first ".", without ",", split at single spaces; where a
piece is ``No``, ``not`` or ``no`` the answer is no, everything else is yes, an empty text, too. It has no
"unknown" and leaves nothing unparsed.
"""

from __future__ import annotations

import re

from .common import check_choice

PARSERS = ("strict", "official")
ANSWERS = ("yes", "no", "unknown")

# Without the underscore, which is markup round a word ("_No_") and no part of it.
_WORD = re.compile(r"[^\W_]+")
_OPTIONS = frozenset(ANSWERS)
_OFFICIAL_NO = frozenset({"No", "not", "no"})


def parse(text: str, parser: str = "strict") -> str | None:
    """The answer that `text` gives.

    Parameters
    ----------
    text : str
    parser : {"strict", "official"}

    Returns
    -------
    {"yes", "no", "unknown"} or None
        None where the strict parser finds no answer, or more than one; never None or "unknown" for
        ``official``.

    Raises
    ------
    ValueError
        If the parser is unknown.

    Examples
    --------
    >>> [parse(text) for text in ("**No**", "Yes, there is.", "Unknown", "Yes and no", "Not sure")]
    ['no', 'yes', 'unknown', None, None]
    >>> [parse(text, "official") for text in ("**No**", "Yes, but not a dog", "NO", "No. Yes.", "")]
    ['yes', 'no', 'yes', 'no', 'yes']
    """
    check_choice("parser", parser, PARSERS)
    if parser == "official":
        pieces = text.split(".", 1)[0].replace(",", "").split(" ")
        return "yes" if _OFFICIAL_NO.isdisjoint(pieces) else "no"
    found = _OPTIONS.intersection(_WORD.findall(text.lower()))
    return next(iter(found)) if len(found) == 1 else None
