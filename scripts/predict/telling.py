"""What `lookcheck predict` prints: what would be asked, and what came of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lookcheck.scripts import console
from lookcheck.scripts.predict.backend import Backend
from lookcheck.scripts.predict.plan import Plan
from lookcheck.scripts.predict.run_folder import PREDICTIONS, REPLIES, TIMINGS, Line, read_lines
from lookcheck.scripts.predict.work import FAILURE

# Requests whose prompt is rendered to estimate tokens.
_TRIED = 32
# Bytes of a line of replies and of predictions together beside their texts; of a token's text, in both.
_BYTES_OF_A_LINE, _BYTES_OF_A_TOKEN = 900, 10


def tell_plan(plan: Plan, backend: Backend, output: Path, *, as_json: bool) -> None:
    """Rows, requests, tokens, time where a rate is known, and disk; no model is asked.

    Tokens of prompts are counted on some of the requests, evenly chosen, where the back end can count.
    """
    step = max(1, len(plan.requests) // _TRIED)
    shown = [backend.show(request) for request in plan.requests[::step]]
    counted = [item.tokens for item in shown if item.tokens is not None]
    prompt = round(sum(counted) / len(counted) * len(plan.requests)) if counted else None
    new = sum(max(1, request.max_new_tokens) for request in plan.requests)
    rate = _rate(output)
    left = len(plan.requests) - len(read_lines(output / REPLIES))
    told: dict[str, Any] = {
        "dataset": plan.opened.folder.name,
        "protocol": f"{plan.protocol.name} {plan.protocol.version}",
        "rows": len(plan.rows),
        "of": plan.total,
        "requests": sum(len(row.requests) for row in plan.rows),
        "distinct": len(plan.requests),
        "left": left,
        "pictures": len({item.picture.sha256 for item in plan.requests if item.picture is not None}),
        "prompt_tokens": prompt,
        "new_tokens_at_most": new,
        "bytes_at_most": len(plan.requests) * _BYTES_OF_A_LINE + new * _BYTES_OF_A_TOKEN,
        "seconds": None if rate is None else left * rate,
    }
    if as_json:
        print(console.to_json(told))
        return
    print(f"{told['dataset']} by {told['protocol']}: {told['rows']:,} of {told['of']:,} rows")
    print(f"requests: {told['requests']:,}, {told['distinct']:,} distinct, {left:,} to ask")
    print(f"pictures: {told['pictures']:,}")
    named = "known to the back end alone" if prompt is None else f"about {prompt:,}"
    print(f"tokens: prompts {named}; at most {new:,} new ones")
    print(f"disk: at most {told['bytes_at_most'] / 1e6:,.1f} MB")
    print("time: " + ("not known before some were asked" if rate is None else f"about {left * rate:,.0f} s"))


def tell_run(output: Path, lines: Mapping[str, Line], *, as_json: bool) -> None:
    """Rows, what failed and what could not be read, each with its reason, and tokens."""
    failures = Counter(str(line[FAILURE]) for line in lines.values() if FAILURE in line)
    problems = Counter(str(line["problem"]) for line in lines.values() if "problem" in line)
    replies = read_lines(output / REPLIES).values()
    prompt, new = (sum(reply.get(name) or 0 for reply in replies) for name in ("prompt_tokens", "new_tokens"))
    if as_json:
        told = {
            "output": str(output),
            "rows": len(lines),
            "failed": sum(failures.values()),
            "failures": dict(sorted(failures.items())),
            "problems": dict(sorted(problems.items())),
            "prompt_tokens": prompt,
            "new_tokens": new,
        }
        print(console.to_json(told))
        return
    tokens = f", {prompt:,} tokens of prompts and {new:,} new ones" if prompt or new else ""
    print(f"{output / PREDICTIONS}: {len(lines):,} rows{tokens}")
    for what, found in (("failed", failures), ("can't be read", problems)):
        console.print_reasons(what, found)
    if failures:
        print("  the same command asks again about those that failed")


def _rate(output: Path) -> float | None:
    """Seconds a request of an earlier start; None without one."""
    file = output / TIMINGS
    if not file.is_file():
        return None
    found = []
    for line in file.read_text(encoding="ascii").splitlines():
        try:
            found.append(float(json.loads(line)["seconds"]))
        except (ValueError, KeyError, TypeError):
            # The last line of a killed run.
            continue
    return sum(found) / len(found) if found else None
