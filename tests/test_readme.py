"""The README shows what really happens."""

import re
import subprocess
import sys
from pathlib import Path

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_example_prints_what_the_readme_says(tmp_path):
    """The ten lines, run as they stand, print the block below them."""
    code, printed = re.search(
        r"```python\n(.*?)```\n\nprints\n\n```\n(.*?)```", README, re.S
    ).groups()
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert result.stdout == printed
    assert (tmp_path / "allgather.json").is_file()
