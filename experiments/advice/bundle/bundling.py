"""Export of a bundle from the schedules that ``forestcoll tune`` found.

The bundle has an index and a file for each range of sizes, checked by execution. Where an export
fails, a new search finds the runners-up.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from experiments.advice.bundle.bundle_check import READERS, faults_in
from experiments.advice.bundle.bundle_index import FORMAT, INDEX, Bundle, BundledRange
from experiments.advice.bundle.checkpoint import Checkpoint
from experiments.advice.bundle.runners_up import runners_up
from experiments.advice.bundle.size_ranges import Part, adjacent
from experiments.advice.bundle.tuned_index import TunedIndex, read_tuned
from experiments.advice.tuning.tuning import SECONDS, Progress
from forestcoll.bounded_read import read_at_most
from forestcoll.compilation import compile_program
from forestcoll.errors import (
    ExportError,
    InvalidParameterError,
    InvalidScheduleError,
    UnsupportedError,
    VerificationError,
)
from forestcoll.runtimes.formats import (
    FORMATS,
    Exported,
    ExportOptions,
    asked_of,
    export,
    format_of,
)
from forestcoll.runtimes.msccl.exporter import MscclOptions
from forestcoll.runtimes.mscclpp.exporter import MscclppOptions
from forestcoll.runtimes.python_modules.lockstep_check import check_module
from forestcoll.runtimes.simulators.chakra_trace import ChakraOptions
from forestcoll.schedule import read_schedule, verify
from forestcoll.schedule.files.schedule_files import MOST_BINARY_BYTES
from forestcoll.schedule.program import Program

__all__ = ["Bundling"]


class Bundling:
    """The export of a bundle.

    Parameters
    ----------
    tuned : Path
        A folder written by ``forestcoll tune``.
    place : Path
        The folder of the new bundle.
    options : ExportOptions
        Options of the file format; each file sets its own sizes.
    seconds : float
        Time for each method in a search for runners-up.
    multiple_of : int, optional
        A number of elements that divides every call; files that refuse such a call are not used.

    Raises
    ------
    InvalidParameterError
        If the multiple is below 1, or the format needs several files for a schedule.
    InvalidScheduleError
        If the folder has no index of ``forestcoll tune``.
    ExportError
        If the bundle cannot be written.
    """

    def __init__(
        self,
        tuned: Path,
        place: Path,
        options: ExportOptions = MscclOptions(),  # noqa: B008
        seconds: float = SECONDS,
        multiple_of: int | None = None,
    ) -> None:
        if multiple_of is not None and multiple_of < 1:
            raise InvalidParameterError(
                f"the multiple of elements is {multiple_of}; it must be 1 or more"
            )
        if isinstance(options, ChakraOptions):
            raise InvalidParameterError(
                "a bundle has one file for each range of sizes, and Chakra needs a trace for each "
                "rank; export each schedule by itself"
            )
        self._index: TunedIndex = read_tuned(tuned)
        self._tuned, self._name, self._seconds = tuned, format_of(options), seconds
        self._options, self._multiple = options, multiple_of
        self._asked: dict[Program, str] = {}
        self.checkpoint = Checkpoint(place)

    def run(self, progress: Progress | None = None) -> Bundle:
        """Export the bundle.

        Parameters
        ----------
        progress : callable, optional
            Called with (stage, done, total); may raise to stop, and finished files are kept.

        Raises
        ------
        VerificationError
            If the execution of a file gives a wrong result: a bug.
        ForestCollError
            If a schedule file cannot be read.
        """
        tell: Progress = progress or (lambda stage, done, total: None)
        parts: list[Part] = []
        for place, part in enumerate(self._tuned_parts()):
            tell("tuned", place, len(self._index.ranges))
            parts += self._usable(part, tell)
        parts = adjacent(parts)  # neighbours may have the same runner-up
        ranges, files = [], {}
        for place, part in enumerate(parts):
            tell("files", place, len(parts))
            entry, text = self._bundled(part, place)
            ranges.append(entry)
            if entry.file is not None:
                files[entry.file] = text
        bundle = self._bundle(ranges)
        files[INDEX] = bundle.model_dump_json(indent=2) + "\n"
        self.checkpoint.finish(files, _checked)
        return bundle

    def _tuned_parts(self) -> list[Part]:
        return adjacent(
            [
                Part(
                    one.first_bytes,
                    one.last_bytes,
                    one.use,
                    self._tuned / one.file,
                    self._index.method_of(one.use),
                    one.slower_than_the_best_by,
                )
                for one in self._index.ranges
            ]
        )

    def _usable(self, part: Part, tell: Progress) -> list[Part]:
        """Return the part if its schedule can be exported, else parts with the runners-up."""
        refused = self._exported(part).get("refused")
        if refused is None:
            return [part]
        last = max(
            one.last_bytes for one in self._index.ranges if one.first_bytes <= part.last_bytes
        )
        best = Part(part.first_bytes, last, part.use, part.schedule, part.method, why=refused)
        self.checkpoint.begin()
        key = self.checkpoint.key("runners-up", *self._key(part), self._index, self._seconds)
        return runners_up(
            self._index,
            best,
            self.checkpoint.path / key,
            refuses=self._refuses,
            seconds=self._seconds,
            progress=tell,
        )

    def _refuses(self, program: Program) -> str:
        """Return why a program cannot be used, or an empty text; each is exported once."""
        if program not in self._asked:
            self._asked[program] = self._refusal(program)
        return self._asked[program]

    def _refusal(self, program: Program) -> str:
        try:
            found = export(program, self._options)
        except (ExportError, UnsupportedError) as error:
            return f"cannot be exported: {error}"
        return self._not_taken(found)

    def _not_taken(self, exported: Exported) -> str:
        """Return why a runtime would refuse some calls; empty if it accepts all."""
        chunks = exported.facts.get("chunks")
        if self._multiple is None or chunks is None or self._multiple % chunks == 0:
            return ""
        return (
            f"takes calls of a multiple of {chunks} elements only, not of all multiples of "
            f"{self._multiple}"
        )

    def _key(self, part: Part) -> tuple[object, ...]:
        assert part.schedule is not None  # an open part has nothing to export
        schedule = hashlib.sha256(
            read_at_most(part.schedule, MOST_BINARY_BYTES, InvalidScheduleError)
        ).hexdigest()
        options = sorted(asked_of(self._options).items())
        sizes = part.first_bytes, part.last_bytes
        return schedule, self._name, options, self._multiple, sizes

    def _exported(self, part: Part) -> dict[str, Any]:
        """Return the text of a file with its index data, or the reason why there is none."""
        key = self.checkpoint.key("file", *self._key(part))
        return self.checkpoint.kept(key, lambda: self._made(part))

    def _made(self, part: Part) -> dict[str, Any]:
        assert part.schedule is not None
        schedule = read_schedule(part.schedule)
        verify(schedule)
        program = compile_program(schedule, loopback=False)
        try:
            exported = export(program, self._of_sizes(part))
        except (ExportError, UnsupportedError) as error:
            why = str(error)
        else:
            why = self._not_taken(exported)
        if why:
            self._asked[program] = why
            return {"refused": why}
        facts: dict[str, Any] = {"text": exported.text}
        if FORMATS[self._name].ending == ".py":
            return facts | {"executed": [check_module(exported.text)]}
        if self._name not in READERS:
            return facts
        try:
            found = READERS[self._name](exported.text, self._index.root, True)
        except InvalidScheduleError as error:
            return {"refused": str(error)}
        if found.wrong:
            raise VerificationError(
                f"what was exported of {part.schedule} is not right, so it is not written: "
                f"{found.wrong}; please report the schedule"
            )
        return facts | {
            "name": found.name,
            "protocol": found.protocol,
            "chunks": found.chunks,
            "executed": found.executed,
        }

    def _of_sizes(self, part: Part) -> ExportOptions:
        """Return the options of a part's file, with its sizes if the format has them."""
        if not isinstance(self._options, MscclOptions | MscclppOptions):
            return self._options
        return replace(self._options, min_bytes=part.first_bytes, max_bytes=part.last_bytes)

    def _bundled(self, part: Part, place: int) -> tuple[BundledRange, str]:
        """Return the entry of a part, and the text of its file."""
        made: dict[str, Any] = {}
        if part.schedule is not None:
            made = self._exported(part)
            if "refused" in made:
                raise VerificationError(
                    f"{part.use} could be exported, but not for its sizes: {made['refused']}; "
                    f"please report the schedule"
                )
        text = made.get("text", "")
        executed = made.get("executed")
        stem = "" if part.schedule is None else part.schedule.stem
        file = f"{self._name}/{place + 1:02d}-{stem}{FORMATS[self._name].ending}"
        entry = BundledRange(
            first_bytes=part.first_bytes,
            last_bytes=part.last_bytes,
            use=part.use,
            method=part.method,
            file=file if made else None,
            sha256=hashlib.sha256(text.encode()).hexdigest() if made else None,
            name=made.get("name"),
            protocol=made.get("protocol"),
            chunks=made.get("chunks"),
            sizes_in_file=bool(made) and isinstance(self._options, MscclOptions | MscclppOptions),
            executed=None if executed is None else tuple(executed),
            slower_than_the_best_by=part.slower,
            instead_of=part.instead_of or None,
            why=part.why or None,
        )
        return entry, text

    def _bundle(self, ranges: list[BundledRange]) -> Bundle:
        index = self._index
        return Bundle(
            format=FORMAT,
            version=1,
            runtime=self._name,
            topology=index.topology,
            collective=index.collective,
            gpus=index.gpus,
            root=index.root,
            options=asked_of(self._options),
            multiple_of=self._multiple,
            alpha_us=index.alpha_us.exact,
            gamma_s_per_gb=index.gamma_s_per_gb.exact,
            sharing=index.sharing,
            tuning_complete=index.complete,
            first_bytes=index.ranges[0].first_bytes,
            last_bytes=index.ranges[-1].last_bytes,
            ranges=tuple(ranges),
        )


def _checked(folder: Path) -> None:
    """Read the whole bundle back; its files have just been executed."""
    for fault in faults_in(folder, execute=False):
        raise VerificationError(f"the bundle is not whole: {fault}; please report this")
