"""Ways to call the command line, and the script beside it, from a test."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from forestcoll import cli

ROOT = Path(__file__).parents[1]


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(cli.app, [str(argument) for argument in arguments])


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


SCRIPT = ROOT / "docs" / "check_certificate.py"


def by_the_script(path: Path) -> subprocess.CompletedProcess[str]:
    """Run the script as anybody may: no package is on its path."""
    command = [sys.executable, "-I", "-S", str(SCRIPT), str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
