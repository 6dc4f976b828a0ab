"""Try C++ mutants: build each in a copy of the sources, then run the native and the Python tests.

A mutant that does not compile is replaced by the next of the sample. Each takes a compilation, the
native tests (a second) and, if those pass, the Python tests of the stage (some seconds).
"""

from __future__ import annotations

import itertools
import os
import random
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from benchmarks.mutation.areas import ROOT
from benchmarks.mutation.native_mutants import NativeMutant, mutants_of_text
from benchmarks.mutation.restart import first_failed
from benchmarks.mutation.stored import Tried

__all__ = ["STAGES", "NativeRun", "copy_changed", "python_tests", "stage_sources"]

STAGES = (
    "common", "optimality", "violation", "tight_sets", "edge_splitting", "tree_packing", "assembly",
    "path_recovery",
)  # fmt: skip
"""Folders of the stages of a schedule, and of what they share."""

_CORE = "tests/core/test_{}.py"
PYTHON_TESTS = {
    "common": (_CORE.format("optimality"), _CORE.format("pipeline")),
    "tight_sets": (_CORE.format("tight_sets"), "tests/across/test_trimming.py"),
    "tree_packing": (_CORE.format("tree_packing"), _CORE.format("pipeline")),
}
"""Of stages whose Python tests are not those of the module of that name alone."""

SECONDS, MEMORY_BYTES = 900, 8 << 30


def stage_sources() -> list[Path]:
    """Return the C++ files of all stages, from the root of the project."""
    base = ROOT / "forestcoll" / "native" / "src"
    found = (path for stage in STAGES for path in sorted((base / stage).glob("*.cpp")))
    return [path.relative_to(ROOT) for path in found]


def python_tests(source: Path) -> tuple[str, ...]:
    """Return the Python tests of the stage that a C++ file belongs to."""
    stage = source.parent.name
    return PYTHON_TESTS.get(stage, (_CORE.format(stage),))


def copy_changed(source: Path, target: Path) -> None:
    """Copy files of other contents, with the time of now: a build compares times."""

    def copy(one: str, other: str) -> None:
        if not Path(other).exists() or Path(one).read_bytes() != Path(other).read_bytes():
            shutil.copyfile(one, other)

    shutil.copytree(source, target, dirs_exist_ok=True, copy_function=copy)


class NativeRun:
    """Sources that may be changed, and their build."""

    def __init__(
        self, source: Path, build: Path, with_python: bool, say: Callable[[str], None]
    ) -> None:
        self._source, self._build, self._say = source, build, say
        self._with_python = with_python

    def copy(self) -> None:
        """Copy the sources that changed, or that a run which was ended left as a mutant."""
        self._source.mkdir(parents=True, exist_ok=True)
        for folder in ("forestcoll/native", "baselines/native", "docs"):
            copy_changed(ROOT / folder, self._source / folder)
        recipe = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
        # A fault that leaves a name unused still has to build.
        (self._source / "CMakeLists.txt").write_text(recipe.replace("-Werror", ""))

    def prepare(self) -> None:
        """Build once, and see that the native tests pass without a mutant."""
        if not (self._build / "build.ninja").exists():
            self._configure()
        if not self._builds():
            raise SystemExit("the sources as they are do not build")
        if failed := self._failed_natively():
            raise SystemExit(f"the tests fail without a mutant: {failed}")
        self._say("built, and the native tests pass")

    def _configure(self) -> None:
        import nanobind  # type: ignore[import-untyped]

        options = [
            f"-Dnanobind_DIR={nanobind.cmake_dir()}",
            f"-DPython_EXECUTABLE={sys.executable}",
            "-DCMAKE_UNITY_BUILD=OFF",  # a mutant compiles one file again
        ]
        ninja = Path(sys.executable).parent / "ninja"
        self._run(
            "cmake",
            "-S",
            str(self._source),
            "-B",
            str(self._build),
            "-G",
            "Ninja",
            f"-DCMAKE_MAKE_PROGRAM={ninja}",
            "-DCMAKE_BUILD_TYPE=Release",
            "-DCMAKE_CXX_FLAGS_RELEASE=-O1",
            *options,
        )

    def tried(
        self, path: Path, most: int, seed: int, only: Collection[str] | None = None
    ) -> Iterator[Tried]:
        """Yield what became of a sample of a file's mutants, or of those with some names."""
        text = (ROOT / path).read_text(encoding="utf-8")
        order = mutants_of_text(text)
        random.Random(f"{seed} {path}").shuffle(order)
        if only is not None:
            order = [mutant for mutant in order if mutant.name in only]
        tried = (self._one(path, text, mutant) for mutant in order)
        yield from itertools.islice(filter(None, tried), most)

    def _one(self, path: Path, text: str, mutant: NativeMutant) -> Tried | None:
        """Try one mutant; nothing if it does not compile."""
        place = self._source / path
        place.write_text(mutant.applied(text), encoding="utf-8")
        try:
            if not self._builds():
                self._say(f"does not compile: {path}:{mutant.line} {mutant.name}")
                return None
            status, by = self._tested(path)
        finally:
            place.write_text(text, encoding="utf-8")
        self._say(f"{status}: {path}:{mutant.line} {mutant.name} ({by})")
        return Tried(str(path), mutant.name, mutant.kind, mutant.line, status, by)

    def _builds(self) -> bool:
        done = self._run("cmake", "--build", str(self._build), "--target", "native_tests", "_core")
        return done.returncode == 0

    def _tested(self, path: Path) -> tuple[str, str]:
        if failed := self._failed_natively():
            return "killed", failed
        if not self._with_python:
            return "survived", ""
        tests = python_tests(path)
        core = next(self._build.glob("_core.*.so"))
        command = ["-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider"]
        command += ["-p", "benchmarks.mutation.native_module", *tests]
        environment = {**os.environ, "FORESTCOLL_MUTATED_CORE": str(core)}
        try:
            done = subprocess.run(
                [sys.executable, *command],
                cwd=ROOT,
                env=environment,
                text=True,
                capture_output=True,
                timeout=SECONDS,
                check=False,
                preexec_fn=_limit,
            )
        except subprocess.TimeoutExpired:
            return "timeout", "pytest"
        status = "survived" if done.returncode == 0 else "killed"
        return status, first_failed(done.stdout)

    def _failed_natively(self) -> str:
        """Return the native test that fails, if any."""
        done = self._run(
            "ctest", "--test-dir", str(self._build), "--timeout", "60", "--stop-on-failure"
        )
        if done.returncode == 0:
            return ""
        failed = [line for line in done.stdout.splitlines() if "***" in line]
        return " ".join(failed[0].split()[2:4]) if failed else "ctest"

    def _run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run one of the tools installed beside Python."""
        command = [str(Path(sys.executable).parent / program), *arguments]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, preexec_fn=_limit
        )


def _limit() -> None:
    """A mutant may not take all memory."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
