"""Ways to call the command line, and the script beside it, from a test."""

import json
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

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


def by_the_script(path: Path, script: Path = SCRIPT) -> subprocess.CompletedProcess[str]:
    """Run the script as anybody may: no package is on its path."""
    command = [sys.executable, "-I", "-S", str(script), str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
