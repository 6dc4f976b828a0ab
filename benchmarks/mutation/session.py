"""Try mutants in forks of one pytest session.

The suite runs twice (traced, then in a fork as a control). Then each mutant takes a fork and the
tests that run its statement, up to the first failure. Tests that fail in the control are left out,
since they would kill every mutant. Caches are cleared before each test. Code that runs while tests
are collected is beyond a fork: such mutants, if they survive, go on to ``restart``.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import pytest

from benchmarks.mutation.hypotheses import Profile
from benchmarks.mutation.mutants import Mutant, Mutants
from benchmarks.mutation.reach import Lines, reached
from benchmarks.mutation.swapping import LiveFunctions, find_caches

__all__ = ["ARGUMENTS", "Plan", "Result", "run_suite"]

ARGUMENTS = ("-q", "-s", "--tb=no", "-p", "no:cacheprovider", "--hypothesis-profile=mutation")
"""Of pytest, in all runs."""

LEAST_S, TIMES, MEMORY_BYTES = 1.0, 6.0, 4 << 30
"""With a mutant a test may take so many CPU seconds more, so many times as long, this memory."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The mutants of one module that are to be tried."""

    path: Path
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a mutant."""

    path: str  # the module
    mutant: Mutant
    # "killed", "timeout" (killed, too), "survived", "unreached" (no test runs the statement) or
    # "restart" (to be tried in a process of its own)
    status: str
    by: str = ""  # the test that killed it
    # those that run the statement, for "restart"
    tests: tuple[str, ...] = field(default=(), repr=False)


@dataclass(slots=True)
class _Test:
    item: pytest.Item
    lines: Lines
    seconds: float


def run_suite(
    plans: Sequence[Plan],
    tests: Sequence[str],
    jobs: int,
    most_s: float,
    say: Callable[[str], None],
    keep: Callable[[list[Result]], None] = lambda results: None,
) -> list[Result]:
    """Collect and trace the suite in this process, then try each mutant in a fork.

    Tests are left out of the trial of a mutant where those before them take ``most_s`` together.
    ``keep`` is called with the results so far, a module after the other.
    """
    loop = _Loop(plans, jobs, most_s, say)
    loop.keep = keep
    code = pytest.main([*ARGUMENTS, *tests], plugins=[Profile(), loop])
    if not loop.done:
        raise SystemExit(f"pytest ended with exit code {code} before any mutant was tried")
    return loop.results


class _Loop:
    """A pytest plugin in the place of its loop over tests."""

    def __init__(
        self, plans: Sequence[Plan], jobs: int, most_s: float, say: Callable[[str], None]
    ) -> None:
        self._plans, self._jobs, self._most_s, self._say = plans, jobs, most_s, say
        self._killers: set[str] = set()
        self.keep: Callable[[list[Result]], None] = lambda results: None
        self._files = {plan.path for plan in plans}
        self._at_collection: Lines = {str(path): set() for path in self._files}
        self._failed = False
        self._report: Callable[[str], None] | None = None
        self.results: list[Result] = []
        self.done = False

    # --- hooks of pytest -------------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self) -> Generator[None, Any, Any]:
        with reached(self._files) as lines:
            report = yield
        for path, found in lines.items():
            self._at_collection[path] |= found
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        """Note a failure; in the fork of a mutant it is all that has to be known."""
        if call.excinfo is None or call.excinfo.errisinstance(pytest.skip.Exception):
            return
        if item.get_closest_marker("xfail"):
            return
        self._failed = True
        if self._report is not None:
            self._report(item.nodeid)
            os._exit(0)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        # The project's conftest.py freezes what was collected; gc.get_objects() leaves that out,
        # and neither functions nor caches would be found.
        gc.unfreeze()
        tests = self._traced(session.items)
        tests = self._controlled(tests)
        self._start = time.monotonic()
        self._live = LiveFunctions(self._files)
        self._caches = find_caches()
        gc.collect()
        gc.freeze()
        self._try_all(tests)
        self.done = True
        return True

    # --- before the mutants ----------------------------------------------------------------------

    def _traced(self, items: Sequence[pytest.Item]) -> list[_Test]:
        found, caches, module = [], find_caches(), ""
        for item in items:
            if item.location[0] != module:
                module, caches = item.location[0], find_caches()
            _clear(caches)
            start = time.process_time()
            with reached(self._files) as lines:
                passed = self._passes(item, None)
            if passed:
                found.append(_Test(item, lines, time.process_time() - start))
            else:
                self._say(f"fails when traced, so left out: {item.nodeid}")
        return found

    def _controlled(self, tests: list[_Test]) -> list[_Test]:
        """Run all in a fork, without a mutant; keep those that pass, with the time they take."""
        read, write = os.pipe()
        if (child := os.fork()) == 0:
            os.close(read)
            caches = find_caches()
            with os.fdopen(write, "w") as out:
                for test, after in _with_next(tests):
                    _clear(caches)
                    start = time.process_time()
                    passed = self._passes(test.item, after)
                    seconds = time.process_time() - start if passed else -1.0
                    out.write(f"{seconds}\n")
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as pipe:
            taken_s = [float(line) for line in pipe]
        os.waitpid(child, 0)
        for test, taken in zip(tests, taken_s, strict=True):
            test.seconds = taken
            if taken < 0:
                self._say(f"fails in a fork, so left out: {test.item.nodeid}")
        kept = [test for test in tests if test.seconds >= 0]
        self._say(f"{len(kept)} tests in {sum(test.seconds for test in kept):.1f} s")
        return kept

    def _passes(self, item: pytest.Item, after: pytest.Item | None) -> bool:
        self._failed = False
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        return not self._failed

    # --- the mutants -----------------------------------------------------------------------------

    def _try_all(self, tests: list[_Test]) -> None:
        running: dict[int, tuple[int, Result]] = {}
        for path, mutant in self._mutants():
            while len(running) >= self._jobs:
                self._end_one(running)
            hit = self._in_order(_reaching(tests, str(path), mutant), path)
            collected = _meets(self._at_collection[str(path)], mutant)
            names = tuple(test.item.nodeid for test in hit)
            begun = Result(str(path), mutant, "restart" if collected else "survived", tests=names)
            if not mutant.function:
                self.results.append(Result(str(path), mutant, "restart", tests=names))
            elif not hit:
                status = "restart" if collected else "unreached"
                self.results.append(Result(str(path), mutant, status))
            else:
                child, read = self._fork(path, mutant, hit)
                running[child] = read, begun
        while running:
            self._end_one(running)

    def _in_order(self, hit: list[_Test], path: Path) -> list[_Test]:
        """Killers of other mutants first, then the module's own tests, fastest first."""
        own = f"/test_{path.stem}.py"

        def place(test: _Test) -> tuple[bool, bool, float]:
            name = test.item.nodeid
            return name not in self._killers, own not in name, test.seconds

        kept, spent = [], 0.0
        for test in sorted(hit, key=place):
            kept.append(test)
            if (spent := spent + test.seconds) > self._most_s:
                break
        return kept

    def _mutants(self) -> Iterable[tuple[Path, Mutant]]:
        for plan in self._plans:
            every = Mutants(plan.path.read_text(encoding="utf-8")).all
            for number in plan.numbers:
                yield plan.path, every[number]
            self.keep(self.results)
            spent = time.monotonic() - self._start
            cpu = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            self._say(
                f"{spent:.0f} s, {cpu:.0f} s of CPU: {len(plan.numbers)} of {len(every)} "
                f"mutants of {plan.path}"
            )

    def _fork(self, path: Path, mutant: Mutant, hit: list[_Test]) -> tuple[int, int]:
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            self._try_one(path, mutant, hit, write)
        os.close(write)
        return child, read

    def _try_one(self, path: Path, mutant: Mutant, hit: list[_Test], write: int) -> NoReturn:
        """Put the mutant in, run its tests and return the one that failed."""
        _silence()
        _limit_memory()
        tree = Mutants(path.read_text(encoding="utf-8")).tree(mutant.number)
        module = compile(tree, str(path), "exec", dont_inherit=True)
        if not self._live.swap(path, mutant.function, mutant.start, module):
            os.write(write, b"!")
            os._exit(0)
        _clear(self._caches)
        self._report = lambda name: _tell(write, name)
        for test, after in _with_next(hit):
            _limit_time(test.seconds)
            self._passes(test.item, after)
        os._exit(0)

    def _end_one(self, running: dict[int, tuple[int, Result]]) -> None:
        child, status = os.wait()
        read, begun = running.pop(child)
        with os.fdopen(read, "rb") as pipe:
            by = pipe.read().decode()
        self._killers.add(by)
        self.results.append(_judged(begun, by, status))


def _judged(begun: Result, by: str, status: int) -> Result:
    if by == "!":
        return Result(begun.path, begun.mutant, "restart", tests=begun.tests)
    if by:
        return Result(begun.path, begun.mutant, "killed", by)
    if os.WIFSIGNALED(status):
        late = os.WTERMSIG(status) in (signal.SIGPROF, signal.SIGALRM)
        return Result(
            begun.path, begun.mutant, "timeout" if late else "killed", "the process ended"
        )
    if os.WEXITSTATUS(status) != 0:
        return Result(begun.path, begun.mutant, "killed", "the process ended")
    return begun


def _tell(write: int, name: str) -> None:
    os.write(write, name.encode())


def _meets(lines: set[int], mutant: Mutant) -> bool:
    return any(mutant.first <= line <= mutant.last for line in lines)


def _reaching(tests: list[_Test], path: str, mutant: Mutant) -> list[_Test]:
    return [test for test in tests if _meets(test.lines[path], mutant)]


def _with_next(tests: Sequence[_Test]) -> Iterable[tuple[_Test, pytest.Item | None]]:
    following = [*(test.item for test in tests[1:]), None]
    yield from zip(tests, following, strict=True)


def _clear(caches: Iterable[Any]) -> None:
    for one in caches:
        one.cache_clear()


def _silence() -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nothing, stream)


def _limit_time(seconds: float) -> None:
    """End this process by a signal when a test takes too long, by its clock or by the wall's."""
    most = LEAST_S + TIMES * seconds
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, most)
    signal.setitimer(signal.ITIMER_REAL, 60 * most)


def _limit_memory() -> None:
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY_BYTES, held + MEMORY_BYTES))
