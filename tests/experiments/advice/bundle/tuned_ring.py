"""A small folder of ``forestcoll tune``: a ring of six, of which small data go to all at once."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from experiments.advice.tuning import tune
from experiments.advice.tuning.records import Folder

NETWORK = "ring:nodes=6"
SIZES = ["1KB", "32KB", "1MB"]
METHODS = ["direct", "bfb", "ring"]


def tuned(folder: Path) -> Path:
    """Two ranges: ``direct``, and then ``bfb``, which goes round both ways."""
    tune(NETWORK, sizes=SIZES, methods=METHODS, keep=Folder(folder).keep)
    return folder


def rewritten(folder: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """Change the index of a folder."""
    index = folder / "index.json"
    found = json.loads(index.read_text())
    change(found)
    index.write_text(json.dumps(found))
    return folder
