"""Trees are verified before they are written."""

from pathlib import Path
from typing import Any

import pytest

from forestcoll.cli import written_trees
from tests.command_line import assert_refused, document


def test_generate_verifies_before_it_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A false claim of twice the speed is refused without a file, except with --no-verify."""

    def boastful(*asked: Any, **_: Any) -> Any:
        made = real(*asked)
        object.__setattr__(made.schedule, "congestion", made.schedule.congestion / 2)
        return made

    real = written_trees.generate
    monkeypatch.setattr(written_trees, "generate", boastful)
    path = tmp_path / "example.json"
    assert_refused("overloaded", "generate", "paper_example", "-o", path, code=1)
    assert not path.exists()
    assert document("generate", "paper_example", "-o", path, "--no-verify")["verified"] is False
    assert path.exists()
