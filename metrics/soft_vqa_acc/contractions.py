"""The contraction table of the official VQA evaluation, with its oddities.

All but three of its 120 entries follow one rule: a contraction written with exactly one of its
apostrophes left out is restored (``dont`` gives ``don't``; ``couldnt've`` and ``couldn'tve`` give
``couldn't've``, but ``couldntve`` is unknown). So the table is built from the restored forms.
"""

from __future__ import annotations

# Restored forms. Absent on purpose, because the official table lacks them: i'll, it's, she'll,
# we'd, we're, mustn't've and others. "I'd've", "I'm" and "I've" keep their capital: the text is
# lower-cased before the look-up, so their four entries can never apply. So leaderboards are scored.
_RESTORED = """
ain't aren't can't could've couldn't couldn't've didn't doesn't don't hadn't hadn't've hasn't haven't
he'd he'd've he's how'd how'll how's I'd've I'm I've isn't it'd it'd've it'll ma'am mightn't mightn't've
might've mustn't must've needn't not've o'clock oughtn't 'ow's'at shan't she'd've should've shouldn't
shouldn't've somebody'd've somebody'll somebody's someone'd someone'd've someone'll someone's something'd
something'd've something'll that's there'd there'd've there're there's they'd they'd've they'll they're
they've 'twas wasn't we'd've we've weren't what'll what're what's what've when's where'd where's where've
who'd who'd've who'll who's who've why'll why're why's won't would've wouldn't wouldn't've y'all y'all'll
y'all'd've you'd you'd've you'll you're you've
"""

# The entries that break the rule: one takes an apostrophe away, two change nothing.
_ODD = {"somebody'd": "somebodyd", "let's": "let's", "she's": "she's"}


def _with_one_apostrophe_less(form: str) -> list[str]:
    return [form[:at] + form[at + 1 :] for at, character in enumerate(form) if character == "'"]


CONTRACTIONS: dict[str, str] = {
    shortened: form for form in _RESTORED.split() for shortened in _with_one_apostrophe_less(form)
} | _ODD
"""Word as written to word as compared (120 entries)."""
