"""Early checks of a user's own functions, ``module:function``.

The module is imported in a separate process with the search path of a worker, because the import
may have any side effect or crash. ``python -m`` of this module is that process. It prints what is
wrong on standard output, and nothing if all is well.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys

from forestcoll.errors import did_you_mean
from forestcoll.own_packages import OURS

__all__ = ["missing", "search_path"]

IMPORT_S = 60.0
"""Seconds for the import: as many as a worker has."""


def search_path() -> str:
    """Return the module path of a worker, as PYTHONPATH: ours, then the current folder.

    The current folder comes last, so that a file beside the experiment shadows no installed module.
    """
    return os.pathsep.join([*filter(None, sys.path), os.getcwd()])


def missing(name: str) -> str:
    """Return why a function is missing, as text to follow its name; empty if it exists.

    Parameters
    ----------
    name : str
        ``module:function``.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "forestcoll.own_packages", __name__, name],
            env={**os.environ, "PYTHONPATH": search_path()},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=IMPORT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"whose module takes over {IMPORT_S:g} s to import; let it do less"
    if done.returncode == 0:
        return done.stdout.decode(errors="replace").rpartition("\n")[2]
    lines = [line for line in done.stderr.decode(errors="replace").splitlines() if line.strip()]
    last = lines[-1].strip()[:500] if lines else "no word"
    return f"whose module cannot be imported: it ends with exit code {done.returncode}, {last}"


def _complaint(name: str) -> str:
    module, _, function = name.partition(":")
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        return _not_found(module, error)
    except Exception as error:
        return f"whose module cannot be imported: {type(error).__name__}: {error}"
    if not hasattr(found, function):
        hint = did_you_mean(function, dir(found), "name one of its functions", repr)
        return f"but the module {module!r} has no {function!r}; {hint}"
    if not callable(getattr(found, function)):
        return f"which is {type(getattr(found, function)).__name__}, no function; name a function"
    return ""


def _not_found(module: str, error: ModuleNotFoundError) -> str:
    lost = error.name or module
    package = lost.partition(".")[0]
    if package in OURS:
        return (
            f"but there is no {lost!r}: {package!r} is a package of the toolkit itself; "
            f"give yours another name"
        )
    if lost == module or module.startswith(f"{lost}."):
        where = "put it beside the experiment, run from its folder, or set PYTHONPATH to that"
        return f"but there is no module {lost!r}; {where}"
    return f"whose module cannot be imported: it needs {lost!r}, which is not installed"


def main() -> None:
    """Print what is wrong with the function named by the first argument."""
    answers = os.dup(1)
    os.dup2(2, 1)  # the module's own prints must not mix with the answer
    text = " ".join(_complaint(sys.argv[1]).split())
    sys.stdout.flush()
    os.write(answers, text.encode())


if __name__ == "__main__":
    main()
