"""A run from its options to its finished folder: ask, then find evidence, one model after the other."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from PIL import Image

from lookcheck.dataset_builders.core.verdict_file import Json
from lookcheck.dataset_builders.requests.pictures import PictureReader, opened
from lookcheck.dataset_builders.requests.request import Asked, Picture
from lookcheck.scripts.models.processes import Processes
from lookcheck.scripts.models.require import installed_version
from lookcheck.scripts.models.resumable import Resumable
from lookcheck.scripts.models.settings import Access, Place
from lookcheck.scripts.models.store import Header, RowFile
from lookcheck.scripts.models.watch import Watch
from lookcheck.scripts.predict.backend import Backend
from lookcheck.scripts.predict.evidence.native import NativeFinder
from lookcheck.scripts.predict.finding import Finder, open_finder
from lookcheck.scripts.predict.local.settings import Limits
from lookcheck.scripts.predict.plan import Plan, make_plan
from lookcheck.scripts.predict.run_folder import (
    PREDICTION_FILE,
    PREDICTIONS,
    REPLIES,
    REPLY_FILE,
    TIMINGS,
    Line,
    RunFolder,
)
from lookcheck.scripts.predict.settings import Asking, BackendName, Fields, Finding, Model
from lookcheck.scripts.predict.work import FAILURE, Assembly, Replying

# Those whose version can change an answer.
_PACKAGES: Mapping[BackendName, tuple[str, ...]] = {
    "transformers": ("lookcheck", "torch", "torchvision", "transformers", "tokenizers", "pillow"),
    "openai": ("lookcheck", "openai"),
    "function": ("lookcheck", "pillow"),
}


@dataclass(frozen=True)
class RunOptions:
    """All options of a run; each part is a set of options of the command."""

    asking: Asking
    model: Model
    place: Place
    access: Access
    fields: Fields
    finding: Finding = field(default_factory=Finding)
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class Session:
    """A run that is ready to begin.

    Attributes
    ----------
    options : RunOptions
    plan : Plan
    backend : Backend
    processes : Processes
    finder : Finder or None
        Of the evidence, if the protocol asks for it.
    """

    options: RunOptions
    plan: Plan
    backend: Backend
    processes: Processes
    finder: Finder | NativeFinder | None = None

    def header(self) -> Header:
        """All that affects an answer, and what is only good to know; asks the back end who it is."""
        plan, asking = self.plan, self.options.asking
        told, known = self.backend.describe()
        deciding: dict[str, Json] = {
            "model": told,
            "packages": {name: installed_version(name) for name in _PACKAGES[self.options.model.chosen]},
            "asked": {
                "conditions": list(plan.wish.conditions),
                "no_image": plan.wish.no_image,
                "thinking": plan.wish.thinking,
                "picture_first": plan.protocol.picture_first,
                "decoding": "greedy",
                "max_new_tokens": max(request.max_new_tokens for request in plan.requests),
            },
            **described(plan),
        }
        if self.finder is not None:
            deciding["evidence"] = self.finder.describe()
        return Header(deciding=deciding, known={**whereabouts(plan, asking), **known})

    def run(self, output: Path, *, quiet: bool = False) -> dict[str, Line]:
        """Ask what the folder does not hold yet, and write its predictions.

        Returns
        -------
        dict of str to Line
            Predictions by id, in the data set's order; in a process that is not the first, none.

        Raises
        ------
        InputError
            If the folder is not to be continued, or a back end gives up.
        OSError
            If the disk is full; the next start goes on from there.
        """
        processes = self.processes
        header = self.header()
        with Watch(quiet=quiet or not processes.first, title="asking") as watch, ExitStack() as stack:
            predictions = self._open(stack, output, header)
            assembly = Assembly(self.plan)
            waiting: dict[str, Line] = {}

            def told(replies: list[Line]) -> None:
                if predictions is not None and not processes.many:
                    self._take(predictions, assembly.add(replies), waiting)

            work = Replying(self.plan, self.backend, output / TIMINGS, told)
            file = Resumable(output / REPLIES, REPLY_FILE, header, retry=True, in_order=True)
            replies = file.run(work, processes, watch)
            self.backend.close()
            if predictions is None:
                return {}
            if processes.many:
                self._take(predictions, assembly.add(list(replies.values())), waiting)
            self._find(predictions, waiting, watch)
            predictions.finish([row.id for row in self.plan.rows])
            return dict(predictions.rows)

    def _take(
        self, predictions: RowFile[Line], found: list[tuple[Asked, Line]], waiting: dict[str, Line]
    ) -> None:
        """Write what is complete; keep what waits for the second stage."""
        lines = [line for row, line in found if row.id not in predictions.rows]
        if self.finder is not None:
            waiting.update({line["id"]: line for line in lines if self.finder.waits(line)})
        predictions.append([line for line in lines if line["id"] not in waiting])

    def _find(self, predictions: RowFile[Line], waiting: dict[str, Line], watch: Watch) -> None:
        """The second stage, in the data set's order: the model that was asked has left its memory by now."""
        if self.finder is None or not waiting:
            return
        watch.start(len(waiting))
        pictures = PictureReader()
        try:
            for row in self.plan.rows:
                if row.id in waiting:
                    picture = row.about["picture"]
                    look = partial(_opened, pictures, picture)
                    predictions.append([self.finder.find(waiting[row.id], look)])
                    watch.advance(1)
        finally:
            pictures.close()
            self.finder.close()

    def _open(self, stack: ExitStack, output: Path, header: Header) -> RowFile[Line] | None:
        """The file of predictions, in the first process; rows that failed are taken out of it."""

        def opened() -> RowFile[Line]:
            stack.enter_context(RunFolder(output, header))
            file = stack.enter_context(RowFile(output / PREDICTIONS, PREDICTION_FILE, header))
            file.drop([id for id, line in file.rows.items() if FAILURE in line])
            return file

        return self.processes.in_first(opened)


def described(plan: Plan) -> dict[str, Json]:
    """Protocol and data of a plan, as ``run.json`` has them among what decides."""
    return {
        "protocol": {
            "name": plan.protocol.name,
            "version": plan.protocol.version,
            "sha256": plan.protocol.sha256,
        },
        "dataset": {
            "name": plan.opened.folder.name,
            "version": plan.opened.folder.version,
            "rows": len(plan.rows),
            "of": plan.total,
            "requests": len(plan.requests),
            "sha256": plan.fingerprint,
        },
    }


def whereabouts(plan: Plan, asking: Asking) -> dict[str, Json]:
    """Where a scorer finds the data set that was asked, and how it is to score: only good to know."""
    local = Path(asking.dataset).is_dir()
    return {
        "dataset": str(Path(asking.dataset).resolve()) if local else asking.dataset,
        "dataset_revision": plan.opened.commit,
        "manifest": plan.opened.manifest,
        "score": (plan.protocol.options or {}).get("score", {}),
    }


def prepare(options: RunOptions) -> Session:
    """Read the data set and open the back end; no model is asked and nothing is written.

    Raises
    ------
    InputError
        If an option, a row or the back end is not as it should be.
    """
    name = options.model.chosen
    plan = make_plan(options.asking, by_row=name == "function")
    processes = Processes(cpu=name != "transformers" or options.place.device == "cpu")
    finder = open_finder(plan, options.finding, options.place, processes, options.asking.evidence)
    return Session(options, plan, _backend(options, plan, processes), processes, finder)


def _backend(options: RunOptions, plan: Plan, processes: Processes) -> Backend:
    name = options.model.chosen
    if name == "function":
        from lookcheck.scripts.predict.function import FunctionBackend

        return FunctionBackend(options.model.model, plan)
    if name == "openai":
        from lookcheck.scripts.predict.server import ServerBackend

        return ServerBackend(options.model, options.access, options.fields, plan.requests)
    from lookcheck.scripts.predict.local.backend import LocalBackend

    model = options.model
    return LocalBackend(model.model, model.revision, options.place, processes, options.limits)


def _opened(pictures: PictureReader, picture: Picture) -> Image.Image:
    return opened(pictures.read(picture))
