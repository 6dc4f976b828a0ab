"""Simulated speedups between methods, beside the measured ones of the papers.

The figures of algbw against size have no printed numbers, but the text has ratios
(``published/speedups.csv``; ForestColl section 6, BFB section 8 and A.1). Among parameter choices,
and among the methods of one library, the best counts at each size. An average is the mean ratio
over the sizes of the rows. ``python -m experiments.speedups`` writes the table into
docs/papers/simulated-figures.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from experiments.fit_alpha import MEASURE, compared, fitted_alpha_us, fitted_on, mean_error, table
from experiments.measures.docs import piped, with_tables
from experiments.published import printed
from experiments.results.rows import Row, Status, read_rows
from forestcoll.problem.sizes import size_text

__all__ = ["Speedup", "page_tables", "speedups", "updated"]

PAGE = Path(__file__).parents[1] / "docs" / "papers" / "simulated-figures.md"


@dataclass(frozen=True, slots=True)
class Speedup:
    """The speedup of one method over others: as printed, and in simulation."""

    item: str  # of experiments.reproduction.inventory
    source: str
    topology: str
    collective: str
    ours: str  # the leading method and the methods it is compared with, of which the best counts
    methods: str  # the leading method and the methods it is compared with, of which the best counts
    # the size of a printed ratio; None where only an average is printed
    at_bytes: int | None = None
    printed: str = ""
    simulated: float | None = None
    # the least and the largest size of a printed average
    average_over: tuple[int, int] | None = None
    printed_average: str = ""
    simulated_average: float | None = None


def speedups(rows: Mapping[str, Sequence[Row]]) -> list[Speedup]:
    """Return every printed ratio for which there are rows.

    Parameters
    ----------
    rows : mapping
        By the name of the experiment.
    """
    found = []
    for line in printed("speedups.csv"):
        here = rows.get(line["experiment"], ())
        ours = _best(here, [line["ours"]], line["topology"])
        other = _best(here, line["methods"].split(), line["their_topology"])
        ratios = {size: ours[size] / other[size] for size in sorted(ours.keys() & other.keys())}
        if ratios:
            found.append(_beside(line, ratios))
    return found


def _beside(line: Mapping[str, str], ratios: Mapping[int, float]) -> Speedup:
    at = int(line["at_bytes"]) if line["at_bytes"] else None
    over, mean = None, None
    if line["average_from"]:
        over = int(line["average_from"]), int(line["average_to"])
        within = [ratio for size, ratio in ratios.items() if over[0] <= size <= over[1]]
        mean = fmean(within) if within else None
    return Speedup(
        item=line["item"],
        source=line["source"],
        topology=line["topology"],
        collective=line["collectives"],
        ours=line["ours"],
        methods=line["methods"],
        at_bytes=at,
        printed=line["speedup"],
        simulated=None if at is None else ratios.get(at),
        average_over=over,
        printed_average=line["speedup_average"],
        simulated_average=mean,
    )


def _best(rows: Iterable[Row], methods: Sequence[str], topology: str) -> dict[int, float]:
    best: dict[int, float] = {}
    done = (row for row in rows if row.status is Status.OK and row.topology == topology)
    for row in (row for row in done if row.method in methods):
        for size, values in row.sizes.items():
            if MEASURE in values:
                best[int(size)] = max(best.get(int(size), 0.0), values[MEASURE])
    return best


def page_tables(results: Path, alpha_us: float | None = None) -> dict[str, list[str]]:
    """Return the tables of the page, by the names of its marks.

    Parameters
    ----------
    results : Path
        The folder of the results.
    alpha_us : float, optional
        The fitted alpha, if known; the fit takes some seconds.
    """
    names = dict.fromkeys(line["experiment"] for line in printed("speedups.csv"))
    files = {name: results / name / "rows.jsonl" for name in names}
    rows = {name: read_rows(file) for name, file in files.items() if file.is_file()}
    alpha = fitted_alpha_us() if alpha_us is None else alpha_us
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
        "| figure | network | collective | of | over | at | printed | simulated | "
        "average of | printed | simulated |",
        "| --- | --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for one in found:
        methods = ", ".join(f"`{name}`" for name in one.methods.split())
        at = "" if one.at_bytes is None else size_text(one.at_bytes)
        over = "" if one.average_over is None else "..".join(map(size_text, one.average_over))
        cells = [one.source, f"`{one.topology}`", one.collective, f"`{one.ours}`", methods]
        cells += [at, one.printed, _number(one.simulated)]
        cells += [over, one.printed_average, _number(one.simulated_average)]
        lines.append(piped(cells))
    return lines


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def updated(page: str, tables: Mapping[str, Sequence[str]]) -> str:
    """Return the page with these tables between its marks."""
    texts = {name: "\n".join(lines) for name, lines in tables.items()}
    return with_tables(page, texts, "python -m experiments.speedups")


def main() -> None:
    """Write the tables into the page."""
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(updated(page, page_tables(PAGE.parents[2] / "results")), encoding="utf-8")


if __name__ == "__main__":
    main()
