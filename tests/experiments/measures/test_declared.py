"""A measure is declared once, and everybody knows it."""

import dataclasses
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.measures.declared import BOUNDED, COMPARED, DRAWN, EXACT, MEASURES
from experiments.results.rows import RARE, Row
from experiments.results.tables import SUMMARY

ROOT = Path(__file__).parents[3]

ENTRY = """
    num_links: int | None = measure(
        "links that the network has",
        how=lambda made: len(made.topology.links),
        label="links of the network", unit="pipeline chunks", logarithmic=True, compared=True,
        heading="links",
    )  # fmt: skip


MEASURES: Mapping"""

USE = """
import importlib.machinery, json, sys
sys.meta_path.insert(0, importlib.machinery.PathFinder)  # the copy, before what is installed
from dataclasses import replace
from pathlib import Path
import experiments
assert Path(experiments.__file__).parents[1] == Path.cwd(), experiments.__file__
from experiments.config.points import Limits, Point
from experiments.measures.docs import columns
from experiments.figures.plot import plot
from experiments.results.comparison import compare
from experiments.results.comparison import table as difference
from experiments.results.frames import read_parquet, write_parquet
from experiments.results.rows import Row
from experiments.results.tables import table, write_summary
from experiments.run.worker import work

limits, ring = Limits(9, 1), "ring:nodes=3"
point = Point("toy", "allgather", "ring", ring, ring, "ring", {}, 0, limits)
found = {}
work(point.job, lambda event: found.update(event.get("fields", {})))
row = Row.of(point, {**found, "time": "2026-01-01T00:00:00+00:00"})
assert Row.from_json(row.to_json()) == row
(known,) = read_parquet(write_parquet([row], Path("rows.parquet")))
plot("lines:y=num_links", [row], [Path("a.svg")])
svg = Path("a.svg").read_text()
both = compare([row], [replace(row, num_links=7)])
(changed,) = both.pairs
print(json.dumps({
    "row": row.num_links,
    "parquet": known.num_links,
    "summary": write_summary([row], Path("a.csv")).read_text(),
    "table": list(table([row], "toy").heads),
    "figure": all(words in svg for words in ("links of the network", "(pipeline")),
    "changed": changed.measures_changed,
    "difference": [cells[-1] for cells in difference(both, "").rows],
    "docs": "| `num_links` | links that the network has |" in columns(),
}))
"""


@pytest.mark.slow
def test_a_new_measure_is_one_entry_in_one_file(tmp_path: Path) -> None:
    """A copy of the package with one more field: a ring of 3 has 6 links, wherever one looks.

    In the row, its reading and writing, parquet, the summary, the table, a figure, a comparison
    and the docs. Nothing but the entry differs.
    """
    copy = tmp_path / "experiments"
    shutil.copytree(ROOT / "experiments", copy, ignore=shutil.ignore_patterns("__pycache__"))
    declared = copy / "measures" / "declared.py"
    text = declared.read_text()
    assert text.count("\n\nMEASURES: Mapping") == 1
    declared.write_text(text.replace("\n\nMEASURES: Mapping", ENTRY))
    done = subprocess.run(
        [sys.executable, "-c", USE],
        cwd=tmp_path,
        env={"PYTHONPATH": f"{tmp_path}:{ROOT}", "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    head, line = seen["summary"].splitlines()
    assert dict(zip(head.split(","), line.split(","), strict=True))["num_links"] == "6"
    assert (seen["row"], seen["parquet"], seen["figure"], seen["docs"]) == (6, 6, True, True)
    assert "links" in seen["table"]
    assert seen["changed"] == ["num_links"]
    assert seen["difference"] == ["num links 6 -> 7 pipeline chunks"]


COLUMNS = [
    "experiment", "point", "cluster", "topology", "collective", "method", "parameters",
    "repetition", "status", "reason", "gpus", "generation_s", "stages_s", "algbw_gb_s", "algbw",
    "algbw_synchronous_gb_s", "algbw_synchronous", "algbw_makespan_gb_s", "algbw_makespan",
    "optimum_gb_s", "optimum", "optimum_by", "made_by", "ratio", "num_trees", "num_batches",
    "depth", "k", "chunks", "steps", "bandwidth_runtime", "search_status", "incumbent", "bound",
    "gap", "searches", "verified", "peak_memory_mb", "limit_s",
    "limit_memory_gb", "wall_s", "jobs", "killed", "versions", "host", "commit", "time",
]  # fmt: skip


def test_rows_have_the_columns_that_they_had_in_their_order() -> None:
    """Files of rows go on as they began: none of these may move, or be lost."""
    row = Row(
        experiment="e", point="p", cluster="c", topology="t", collective="allgather", method="m",
        parameters={}, repetition=0, status="ok", limit_s=1.0, limit_memory_gb=1.0, time="now",
    )  # type: ignore[arg-type]  # fmt: skip
    assert list(json.loads(row.to_json())) == COLUMNS


def test_entries_declare_exact_compared_and_bounded_measures() -> None:
    """Exact columns, those compared and those under the optimum, as they have always been."""
    assert EXACT == ("algbw", "algbw_synchronous", "algbw_makespan", "optimum")
    assert COMPARED == ("algbw", "algbw_synchronous", "algbw_makespan")
    assert BOUNDED == ("algbw_gb_s", "algbw_synchronous_gb_s", "algbw_makespan_gb_s")
    assert all(one.axis and one.meaning for one in DRAWN.values())
    assert all(MEASURES[one.exact_of] for one in MEASURES.values() if one.exact_of)
    fields = {field.name for field in dataclasses.fields(Row)}
    assert fields >= MEASURES.keys()


def test_tables_are_read_in_another_order_than_rows_are_written() -> None:
    """summary.csv has the columns that it had."""
    assert ",".join(name for name in SUMMARY if name not in RARE) == (
        "cluster,topology,gpus,method,parameters,repetition,status,reason,generation_s,algbw_gb_s,"
        "algbw,algbw_synchronous_gb_s,algbw_synchronous,algbw_makespan_gb_s,algbw_makespan,"
        "optimum_gb_s,optimum,optimum_by,ratio,made_by,k,num_trees,num_batches,depth,chunks,"
        "steps,bandwidth_runtime,search_status,incumbent,bound,gap,verified,peak_memory_mb,commit,time"
    )
