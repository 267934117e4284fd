"""`lookcheck judge run`: free-form answers to verdicts."""

from __future__ import annotations

import json
import os
from collections import Counter
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.printable import printable
from lookcheck.dataset_builders.core.verdict_file import Json, JudgeHeader, VerdictRow, fingerprint, identity
from lookcheck.scripts import console
from lookcheck.scripts.judge.backend import DEFAULT_MODEL, Backend, Settings
from lookcheck.scripts.judge.decision import MAX_NEW_TOKENS
from lookcheck.scripts.judge.plan import MAX_CHARACTERS, make_plan
from lookcheck.scripts.judge.processes import Processes
from lookcheck.scripts.judge.prompt import PROMPT_VERSION
from lookcheck.scripts.judge.resumable import judge_plan
from lookcheck.scripts.judge.samples import Sample, join, rows_of
from lookcheck.scripts.judge.watch import Watch

# Those whose version can change a figure.
_PACKAGES = {
    "transformers": ("lookcheck", "torch", "transformers", "tokenizers"),
    "openai": ("lookcheck", "openai"),
}
LOCAL, SERVER = "Back end transformers", "Back end openai"


def run(
    dataset: Annotated[
        str, typer.Option(help="Built folder, ORG/NAME on the Hub, or JSON Lines: id, question, answer.")
    ],
    answers: Annotated[
        Path, typer.Option(help="JSON Lines: id, and prediction or answer (prediction if both).")
    ],
    output: Annotated[Path, typer.Option(help="The verdict file; an unfinished one is continued.")],
    config: Annotated[str | None, typer.Option(help="The data set's configuration.")] = None,
    split: Annotated[str | None, typer.Option(help="Needed where there are several.")] = None,
    dataset_revision: Annotated[str | None, typer.Option(help="Branch, tag or commit on the Hub.")] = None,
    backend: Annotated[
        Literal["transformers", "openai"], typer.Option(help="A local model, or a server.")
    ] = "transformers",
    model: Annotated[str, typer.Option(help="Hub name, folder, or the server's name of it.")] = DEFAULT_MODEL,
    revision: Annotated[str | None, typer.Option(help="The model's branch, tag or commit.")] = None,
    method: Annotated[
        Literal["logprob", "generate"],
        typer.Option(
            help="logprob compares yes and no at the first token; generate parses a greedy reply.",
        ),
    ] = "logprob",
    min_mass: Annotated[
        float, typer.Option(min=0, max=1, help="logprob: least probability of yes and no together.")
    ] = 0.0,
    max_characters: Annotated[
        int, typer.Option(min=1, help="Longer texts are not judged: verdict none.")
    ] = MAX_CHARACTERS,
    dedupe: Annotated[bool, typer.Option(help="Judge identical triples once.")] = True,
    accept_exact: Annotated[
        bool, typer.Option("--accept-exact", help="Say yes without the model to normalised equal answers.")
    ] = False,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 …", rich_help_panel=LOCAL)] = "auto",
    device_map: Annotated[
        str | None, typer.Option(help="auto: one model over several GPUs.", rich_help_panel=LOCAL)
    ] = None,
    dtype: Annotated[
        Literal["auto", "float32", "bfloat16", "float16"],
        typer.Option(
            help="auto: bfloat16 on a GPU, float32 on a CPU.",
            rich_help_panel=LOCAL,
        ),
    ] = "auto",
    attention: Annotated[str, typer.Option(help="sdpa, eager, …", rich_help_panel=LOCAL)] = "sdpa",
    batch_size: Annotated[
        int, typer.Option(min=0, help="0: by device. Halved as memory ends.", rich_help_panel=LOCAL)
    ] = 0,
    prefix_cache: Annotated[
        bool, typer.Option(help="Compute the shared beginning once.", rich_help_panel=LOCAL)
    ] = True,
    base_url: Annotated[str | None, typer.Option(help="http://host:8000/v1", rich_help_panel=SERVER)] = None,
    api_key_env: Annotated[
        str, typer.Option(help="Variable that holds the key.", rich_help_panel=SERVER)
    ] = "OPENAI_API_KEY",
    concurrency: Annotated[int, typer.Option(min=1, help="Requests at a time.", rich_help_panel=SERVER)] = 32,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds a request may take.", rich_help_panel=SERVER)
    ] = 120.0,
    retries: Annotated[
        int, typer.Option(min=0, help="After 429, 5xx and timeouts.", rich_help_panel=SERVER)
    ] = 6,
    top_logprobs: Annotated[
        int, typer.Option(min=0, help="Tokens to list; hosted servers allow 5 to 20.", rich_help_panel=SERVER)
    ] = 20,
    extra_body: Annotated[
        str, typer.Option(help="JSON object of further fields; null drops one.", rich_help_panel=SERVER)
    ] = "{}",
    server: Annotated[
        str | None,
        typer.Option(help="What the server runs ('vllm 0.11, bfloat16'): kept.", rich_help_panel=SERVER),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as one JSON object.")] = False,
) -> None:
    """Judge answers against reference answers by their meaning, with a language model.

    The verdict file is written row by row. After a break the same command goes on where it stopped;
    with any other model, prompt, method or data it refuses to. Start it with `accelerate launch` to
    use several GPUs, each with the whole model.
    """
    samples = join(
        rows_of(dataset, config=config, split=split, revision=dataset_revision), answers, str(dataset)
    )
    settings = Settings(model, revision, method, min_mass)
    asked: Backend
    if backend == "transformers":
        from lookcheck.scripts.judge.local import LocalJudge, Place

        processes = Processes(cpu=device == "cpu")
        asked = LocalJudge(settings, Place(device, device_map, dtype, attention, batch_size, prefix_cache))
    else:
        from lookcheck.scripts.judge.server import Access, ServerJudge

        if base_url is None:
            raise InputError("--backend openai needs --base-url")
        processes = Processes(cpu=True)
        key = os.environ.get(api_key_env)
        body = _object(extra_body)
        asked = ServerJudge(
            settings, Access(base_url, key, concurrency, timeout, retries, top_logprobs, body, server)
        )
    rules: dict[str, Json] = {
        "method": method,
        "prompt_version": PROMPT_VERSION,
        "max_new_tokens": MAX_NEW_TOKENS if method == "generate" else 1,
        "min_mass": min_mass,
        "max_characters": max_characters,
        "accept_exact": accept_exact,
    }
    header = make_header(samples, asked, rules, dataset)
    plan = make_plan(samples, dedupe=dedupe, accept_exact=accept_exact, most=max_characters)
    with Watch(quiet=quiet or not processes.first) as watch:
        rows = judge_plan(plan, asked, header, output, method=method, processes=processes, watch=watch)
    processes.close()
    if processes.first:
        _show(rows, header, output, as_json=as_json)


def make_header(samples: list[Sample], backend: Backend, rules: dict[str, Json], dataset: str) -> JudgeHeader:
    """The header of a verdict file.

    Returns
    -------
    JudgeHeader
    """
    judge, known = backend.describe()
    answered = [sample for sample in samples if sample.candidate is not None]
    deciding: dict[str, Json] = {
        "judge": {**judge, **rules},
        "packages": {name: _version(name) for name in _PACKAGES[str(judge["backend"])]},
        "dataset": {
            "rows": len(samples),
            "sha256": fingerprint((row.id, row.question, row.reference) for row in samples),
        },
        "answers": {
            "rows": len(answered),
            "sha256": fingerprint((row.id, row.candidate or "") for row in answered),
        },
    }
    return JudgeHeader(deciding=deciding, known={"dataset": Path(dataset).name, **known})


def _show(rows: dict[str, VerdictRow], header: JudgeHeader, output: Path, *, as_json: bool) -> None:
    verdicts = Counter(row["verdict"] for row in rows.values())
    counts = {verdict: verdicts[verdict] for verdict in ("yes", "no", "none")}
    reasons = Counter(row["reason"] for row in rows.values() if row["verdict"] == "none")
    copied = sum(row["same_as"] is not None for row in rows.values())
    if as_json:
        result = {
            "output": str(output),
            "rows": len(rows),
            **counts,
            "reasons": dict(sorted(reasons.items())),
            "copied": copied,
            "judge": identity(header),
        }
        print(console.to_json(result))
        return
    listed = ", ".join(f"{count:,} {verdict}" for verdict, count in counts.items())
    print(f"{output}: {len(rows):,} verdicts: {listed}")
    for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], str(item[0]))):
        print(f"  none, {count:,}: {printable(str(reason))}")
    if copied:
        print(f"  {copied:,} repeat the verdict of an identical question, reference and answer")
    print(f"  judge: {identity(header)}")


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise InputError(f"--extra-body {text}: expected a JSON object")
    return value
