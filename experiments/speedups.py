"""How much faster ForestColl is in simulation, beside how much faster it was measured to be.

Problem: the paper's figures 10 to 12 have no numbers, but its text has ratios.
Input:   rows with simulations; the ratios (``published/forestcoll_speedups.csv``).
Output:  a table: for each ratio printed, ours at 1 GB and on the average over the sizes.
Cost:    none.
Source:  ForestColl section 6. Of several choices of parameters, and of the several methods of one
         library, the best counts at each size; the average is the mean of the ratios at all sizes.

``python -m experiments.speedups`` writes it into docs/simulated-figures.md, from the rows below
results/.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from statistics import fmean

from experiments.fit_alpha import MEASURE, compared, fitted_alpha_us, fitted_on, mean_error, table
from experiments.results.rows import Row, Status, read_rows

__all__ = ["Speedup", "page_tables", "speedups", "updated"]

PAGE = Path(__file__).parents[1] / "docs" / "simulated-figures.md"
OURS = "forestcoll"
_LARGEST = 2**30


@dataclass(frozen=True, slots=True)
class Speedup:
    """A ratio as printed, and the simulated one; at 1 GB, and on the average over the sizes.

    Parameters
    ----------
    source, topology, collective : str
    methods : str
        Those that ForestColl is compared with, the best of which counts.
    printed, printed_average : str
        Empty where nothing is printed.
    simulated, simulated_average : float
    """

    source: str
    topology: str
    collective: str
    methods: str
    printed: str
    printed_average: str
    simulated: float
    simulated_average: float


def speedups(rows: Mapping[str, Sequence[Row]]) -> list[Speedup]:
    """Return every ratio that is printed and that rows can be held against.

    Parameters
    ----------
    rows : mapping
        By the name of the experiment.
    """
    found = []
    for line in _printed():
        here = [row for row in rows.get(line["experiment"], ()) if row.topology == line["topology"]]
        ours, other = (_best(here, names) for names in ([OURS], line["methods"].split()))
        ratios = {size: ours[size] / other[size] for size in sorted(ours.keys() & other.keys())}
        if _LARGEST in ratios:
            found.append(_beside(line, ratios))
    return found


def _beside(line: Mapping[str, str], ratios: Mapping[int, float]) -> Speedup:
    return Speedup(
        source=line["source"],
        topology=line["topology"],
        collective=line["collectives"],
        methods=line["methods"],
        printed=line["speedup_at_1gb"],
        printed_average=line["speedup_average"],
        simulated=ratios[_LARGEST],
        simulated_average=fmean(ratios.values()),
    )


def _best(rows: Iterable[Row], methods: Sequence[str]) -> dict[int, float]:
    """Return the best simulated algbw at each size."""
    best: dict[int, float] = {}
    for row in (row for row in rows if row.method in methods and row.status is Status.OK):
        for size, values in row.sizes.items():
            if MEASURE in values:
                best[int(size)] = max(best.get(int(size), 0.0), values[MEASURE])
    return best


def _printed() -> list[dict[str, str]]:
    file = resources.files("experiments.published").joinpath("forestcoll_speedups.csv")
    return list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))


def page_tables(results: Path) -> dict[str, list[str]]:
    """Return the tables of the page, by the names of their places in it.

    Parameters
    ----------
    results : Path
        The folder of the results.
    """
    names = dict.fromkeys(line["experiment"] for line in _printed())
    files = {name: results / name / "rows.jsonl" for name in names}
    rows = {name: read_rows(file) for name, file in files.items() if file.is_file()}
    alpha = fitted_alpha_us()
    ring = fitted_on(alpha)
    on_a100 = compared(row for name in names if "figure11" in name for row in rows.get(name, ()))
    return {
        "fit": [
            f"Alpha is {alpha:g} us; the mean of the absolute errors of the ring with it is "
            f"{mean_error(ring):.1%}.",
            "",
            *table(on_a100),
        ],
        "speedups": _as_table(speedups(rows)),
    }


def _as_table(found: Iterable[Speedup]) -> list[str]:
    lines = [
        "| figure | network | collective | ForestColl over | printed at 1 GB | simulated | "
        "printed average | simulated |",
        "| --- | --- | --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for one in found:
        methods = ", ".join(f"`{name}`" for name in one.methods.split())
        cells = [one.source.partition(", ")[2], f"`{one.topology}`", one.collective, methods]
        cells += [one.printed, f"{one.simulated:.2f}"]
        cells += [one.printed_average, f"{one.simulated_average:.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def updated(page: str, tables: Mapping[str, Sequence[str]]) -> str:
    """Return a page with tables between its marks, ``<!-- NAME -->`` and ``<!-- end -->``.

    Examples
    --------
    >>> print(updated("<!-- other --> old <!-- end -->", {"fit": ["new"]}))
    <!-- other --> old <!-- end -->
    """
    for name, lines in tables.items():
        mark, text = f"<!-- {name}: python -m experiments.speedups -->", "\n".join(lines)
        page = re.sub(
            rf"{re.escape(mark)}.*?<!-- end -->",
            lambda _, mark=mark, text=text: f"{mark}\n\n{text}\n\n<!-- end -->",  # type: ignore[misc]
            page,
            flags=re.DOTALL,
        )
    return page


def main() -> None:
    """Write the tables into the page."""
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(updated(page, page_tables(PAGE.parents[1] / "results")), encoding="utf-8")


if __name__ == "__main__":
    main()
