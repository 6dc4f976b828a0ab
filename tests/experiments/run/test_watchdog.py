"""The watchdog, which starts with every point."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[3] / "experiments"


def test_the_watchdog_loads_nothing_but_the_standard_library() -> None:
    """And two modules of ours, which import nothing else: a worker is a fork of it."""
    ours = {"__init__", "parentage", "watchdog"}
    seen, todo = set(), [ROOT / "run" / "watchdog.py"]
    while todo:
        path = todo.pop()
        seen.add(path.stem)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("experiments."):
                todo.append(ROOT.parent / f"{node.module.replace('.', '/')}.py")
            elif isinstance(node, ast.ImportFrom):
                top = (node.module or "").split(".")[0]
                assert top not in {
                    "forestcoll",
                    "baselines",
                    "lp",
                    "numpy",
                    "psutil",
                    "pydantic",
                }, path
    assert seen <= ours
