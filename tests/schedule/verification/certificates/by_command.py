"""Certificates as the command writes them, and false ones refused by both checks."""

import json
from pathlib import Path
from typing import Any

from tests.command_line import assert_refused, by_the_script, invoke

NETWORKS = {
    "allgather": ["dgx_a100:boxes=2"],
    "reduce-scatter": ["mi250:boxes=2", "--collective", "reduce-scatter", "--group", "*/0-3"],
    "broadcast": ["dgx_h100:boxes=2", "--collective", "broadcast", "--root", "3"],
    "reduce": ["ring:nodes=5", "--collective", "reduce", "--root", "gpu2"],
    "weighted": ["ring:nodes=3", "--weights", "WEIGHTS"],
    "k = 3": ["mi250:boxes=2", "--k", "3"],
    "k = 83": ["mi250:boxes=2", "--k", "83"],
}


def certificate_of(name: str, path: Path) -> Any:
    """Write a certificate with the command line and return it as plain data."""
    weights = path.with_suffix(".yaml")
    weights.write_text("[2, 0, 3]")
    options = [weights if option == "WEIGHTS" else option for option in NETWORKS[name]]
    assert invoke("certificate", *options, "-o", path).exit_code == 0
    return json.loads(path.read_text())


def refused_by_both(changed: Any, path: Path) -> None:
    path.write_text(json.dumps(changed))
    assert_refused("", "verify", path, code=1)
    script = by_the_script(path)
    assert script.returncode == 1
    assert script.stderr.startswith("false: ")
    assert script.stderr.count("\n") == 1
    assert script.stdout == ""
