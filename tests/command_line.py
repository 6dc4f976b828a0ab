"""Ways to call the command line, and the script beside it, from a test."""

import io
import json
import signal
import subprocess
import sys
import time
import warnings
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any
from unittest.mock import patch

import typer
from typer.testing import CliRunner, Result

from forestcoll import cli

ROOT = Path(__file__).parents[1]


def build_commands_once() -> None:
    """Let a CliRunner use the command that it made of an app before.

    Else it reads the signatures of all commands, and makes a validator of each option, at every
    call: 30 ms of CPU.
    """
    typer.testing._get_command = cache(typer.main.get_command)  # type: ignore[attr-defined]


def invoke(*arguments: object) -> Result:
    words = [str(argument) for argument in arguments]
    return CliRunner().invoke(cli.app, words, prog_name="forestcoll")


def document(*arguments: object) -> Any:
    """Run with --json and read the one document on stdout."""
    result = invoke(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def process(*arguments: str, code: str = "", **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the real thing: ``python -m forestcoll``, or code that ends in main()."""
    start = ["-c", code] if code else ["-m", "forestcoll"]
    return subprocess.run(
        [sys.executable, *start, *arguments],
        cwd=ROOT,
        text=True,
        capture_output=True,
        check=False,
        timeout=60,
        **options,
    )


def assert_one_line(stderr: str, message: str) -> None:
    assert stderr.startswith("error: ")
    assert stderr.count("\n") == 1
    assert message in stderr


def assert_refused(message: str, *arguments: object, code: int = 2) -> None:
    """Run a command that must end with this exit code and one line of error."""
    result = invoke(*arguments)
    assert result.exit_code == code, result.output
    assert_one_line(result.stderr, message)


def assert_ctrl_c_stops(code: str, after_s: float) -> None:
    """Interrupt Python code so long after it printed a line; it must end soon."""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(after_s)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert "KeyboardInterrupt" in errors
    assert process.returncode != 0


SCRIPT = ROOT / "docs" / "check_certificate.py"
DEMAND_SCRIPT = ROOT / "docs" / "check_demand_certificate.py"


def as_anybody_runs(path: Path, script: Path = SCRIPT) -> subprocess.CompletedProcess[str]:
    """Run the script by itself: no package is on its path."""
    command = [sys.executable, "-I", "-S", str(script), str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def by_the_script(path: Path, script: Path = SCRIPT) -> subprocess.CompletedProcess[str]:
    """Run the text of the script here, a hundred times as fast; what it ends with is the same."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    here = patch.object(sys, "argv", ["", str(path)])
    with redirect_stdout(out), redirect_stderr(err), here, warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # the end of its process closes the file
        try:
            exec(_compiled(script), {"__name__": "__main__"})
        except SystemExit as ended:
            code = int(ended.code is not None)
            print(ended.code or "", end="\n" if code else "", file=err)
        except KeyError as absent:  # what a certificate lacks; any other error is one of the script
            code = 1
            print(f"KeyError: {absent}", file=err)
    return subprocess.CompletedProcess([], code, out.getvalue(), err.getvalue())


@cache
def _compiled(script: Path) -> CodeType:
    return compile(script.read_bytes(), script, "exec")
