"""Which requests are computed together: those on one picture, and those of similar length."""

from __future__ import annotations

from collections.abc import Sequence

from lookcheck.dataset_builders.requests.request import Request

# New tokens that a row is counted with at most: few replies take all that they may.
MOST_NEW = 512


def weight(prompt_tokens: int, request: Request) -> int:
    """Tokens that a request takes of a batch's room."""
    return prompt_tokens + min(request.max_new_tokens, MOST_NEW)


def cut(requests: Sequence[Request], weights: dict[int, int], most: int, *, by_rows: bool) -> list[list[int]]:
    """Batches of whole pictures, the longest rows first; depends on its arguments alone.

    A picture's requests stand in one batch, so that it is encoded once and always in the same company. Only
    where they are more than a batch holds they take several, which hold nothing else.

    Parameters
    ----------
    requests : sequence of Request
    weights : dict of int to int
        By index; requests without one are left out.
    most : int
        Room of a batch: tokens, padding included, or rows.
    by_rows : bool

    Returns
    -------
    list of list of int
        Indices, the heaviest first.
    """
    pictures: dict[str, list[int]] = {}
    for index in weights:
        picture = requests[index].picture
        pictures.setdefault(f"alone {index}" if picture is None else picture.sha256, []).append(index)
    groups = [sorted(group, key=lambda index: (-weights[index], index)) for group in pictures.values()]
    groups.sort(key=lambda group: (-weights[group[0]], group[0]))
    batches: list[list[int]] = []
    open_batch: list[int] = []
    width = 0
    for group in groups:
        heaviest = 1 if by_rows else weights[group[0]]
        if open_batch and (len(open_batch) + len(group)) * width > most:
            batches.append(open_batch)
            open_batch = []
        if not open_batch:
            width = heaviest
        rows = max(1, most // heaviest)
        if len(group) > rows:
            batches += [group[begin : begin + rows] for begin in range(0, len(group), rows)]
        else:
            open_batch = open_batch + group
    if open_batch:
        batches.append(open_batch)
    return [sorted(batch, key=lambda index: (-weights[index], index)) for batch in batches]
