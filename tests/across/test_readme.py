"""The README and the pages with examples show what really happens."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("page", "written"),
    [
        ("README.md", "allgather.json"),
        ("docs/how-to/large-networks.md", "allgather.npz"),
        ("docs/fixed-k.md", "k3.json"),
        ("docs/certificates.md", "certificate.json"),
        ("docs/latency.md", "low.json"),
        ("docs/baselines.md", "allreduce.json"),
    ],
)
def test_example_prints_the_documented_output(page, written, tmp_path):
    """The Python example, run as it stands, prints the block below it and writes its file."""
    code, printed = re.search(
        r"```python\n(.*?)```\n\nprints\n\n```\n(.*?)```",
        (FOLDER / page).read_text(encoding="utf-8"),
        re.S,
    ).groups()
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert result.stdout == printed
    assert (tmp_path / written).is_file()
