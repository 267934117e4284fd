"""What the first new token says: words by all their forms, and how far down an entity stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, fsum
from typing import Any

from lookcheck.dataset_builders.requests.request import FirstToken, Measure
from lookcheck.scripts.models.forms import forms_of


class Reader:
    """Reads measures off raw logits with one tokenizer."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._forms: dict[str, list[int]] = {}
        self._pieces: dict[str, list[tuple[str, int, bool]]] = {}

    def prepare(self, measures: Iterable[Measure | None]) -> list[str]:
        """Look up the forms of all words; returns words that are no single token in any form."""
        words = {word for measure in measures if measure is not None for word in measure.words}
        new = sorted(words - set(self._forms))
        if new:
            self._forms |= forms_of(self._tokenizer, new)
        return sorted(word for word in words if not self._forms[word])

    def read(self, logits: Any, measure: Measure) -> FirstToken:
        """Read one row.

        Parameters
        ----------
        logits : torch.Tensor
            Raw, float32, shape (vocabulary,).
        measure : Measure
            Its words are known to `prepare`; a word without a form has the log-probability None.
        """
        whole = logits.logsumexp(dim=-1)
        logp: dict[str, float | None] = {}
        for word in measure.words:
            forms = self._forms[word]
            logp[word] = float(logits[forms].logsumexp(dim=-1) - whole) if forms else None
        found = [value for value in logp.values() if value is not None]
        mass = min(1.0, fsum(map(exp, found))) if found else None
        if measure.entity is None:
            return FirstToken(logp, mass)
        best: tuple[int, float, str, bool] | None = None
        for form, token, is_whole in self.pieces(measure.entity):
            rank = 1 + int((logits > logits[token]).sum())
            if best is None or rank < best[0]:
                best = rank, float((logits[token] - whole).exp()), form, is_whole
        if best is None:
            return FirstToken(logp, mass)
        rank, probability, form, is_whole = best
        return FirstToken(logp, mass, rank, min(1.0, probability), form, is_whole)

    def pieces(self, entity: str) -> Sequence[tuple[str, int, bool]]:
        """First tokens of an entity: the form, the token, and whether it is the whole of it.

        The forms are the name as it is, capitalised, and both behind a space. A form whose first token is
        blank, as some tokenizers make of a leading space, says nothing of the entity and is left out; so
        is a second form of one token.
        """
        if entity not in self._pieces:
            capital = entity[:1].upper() + entity[1:]
            found: dict[int, tuple[str, int, bool]] = {}
            for form in (entity, capital, f" {entity}", f" {capital}"):
                ids = self._tokenizer.encode(form, add_special_tokens=False)
                if ids and self._tokenizer.decode(ids[:1]).strip():
                    found.setdefault(ids[0], (form, ids[0], len(ids) == 1))
                # Some tokenizers put a space before everything: then the bare word is in the vocabulary only.
                bare = self._tokenizer.convert_tokens_to_ids(form)
                if bare is not None and bare != self._tokenizer.unk_token_id:
                    found.setdefault(bare, (form, bare, True))
            self._pieces[entity] = list(found.values())
        return self._pieces[entity]
