"""Figure 9 of the TE-CCL paper: what copies save, from the rows of two experiments.

With copies, a GPU passes on what it has received; without, each source sends to every destination
itself. Both have chunks of the same size, so that rates differ as times do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from experiments.results.rows import Row, read_rows

__all__ = ["draw"]

_EXPERIMENTS = {"with": "teccl-figure9", "without": "teccl-figure9-without-copies"}


def draw(root: Path) -> Path:
    """Draw the figure from the stored rows of a clone, and return its file."""
    from experiments.figures.matplotlib_renderer import save
    from experiments.figures.percentages import differences

    output = root / "results" / "teccl" / "figure9.png"
    output.parent.mkdir(exist_ok=True)
    figure = differences(
        list(_rows(root)), "size_bytes", "algbw_makespan_gb_s", "copies", "without"
    )
    save(figure, output)
    return output


def _rows(root: Path) -> Iterator[Row]:
    """Yield the rows of both, which differ in one parameter."""
    for copies, name in _EXPERIMENTS.items():
        for row in read_rows(root / "results" / name / "rows.jsonl"):
            size = row.parameters["size_bytes"]
            yield replace(row, parameters={"copies": copies, "size_bytes": size})


if __name__ == "__main__":
    print(f"wrote {draw(Path())}")
