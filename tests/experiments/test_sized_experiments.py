"""Measures that depend on the size of the data: one schedule and one row, a value for each size."""

import csv
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner

from experiments.config.points import Limits, Point, Status
from experiments.figures.lines import lines_by_size
from experiments.measures.declared import MEASURES, SIMULATED, SIZED
from experiments.results.frames import read_parquet, to_frame, write_parquet
from experiments.results.rows import RARE, Row, read_rows
from experiments.results.tables import document, write_summary
from experiments.run.plan import is_done
from experiments.run.worker import work
from forestcoll.errors import UnsupportedError

SIZES = (1024, 2**30)
RING = [{"family": "ring", "parameters": {"nodes": 4}}]


def a_point(method: str = "ring", sizes: tuple[int, ...] = SIZES, **more: object) -> Point:
    spec = "dgx_a100:boxes=2"
    return Point(
        "toy", "allgather", "dgx_a100", spec, spec, method, {}, 0, Limits(60, 4), sizes=sizes,
        **more,  # type: ignore[arg-type]
    )  # fmt: skip


def a_row(point: Point) -> Row:
    found: dict[str, object] = {}
    work(point.job, lambda event: found.update(event.get("fields", {})))
    return Row.of(point, {**found, "time": "2026-01-01T00:00:00+00:00"})


def test_times_are_sizes_over_bandwidths() -> None:
    """A ring at 640/3 GB/s: a GiB takes 2**30 / (640/3 * 1e9) s, in steps as long as pipelined."""
    row = a_row(a_point())
    assert row.algbw == row.algbw_synchronous == "640/3"
    assert list(row.sizes) == ["1024", "1073741824"]
    expected = float(Fraction(2**30) / (Fraction(640, 3) * 10**9))
    assert row.sizes["1073741824"] == {"time_pipelined_s": expected, "time_synchronous_s": expected}


def test_rows_without_sizes_have_no_further_columns() -> None:
    """No column more, in no form of the row."""
    row = a_row(a_point(sizes=()))
    asked = {name for name in RARE if name not in MEASURES or name in SIZED}
    assert not row.as_dict().keys() & asked
    assert not document(row).keys() & asked
    assert not set(to_frame([row])) & asked
    assert row.by_size() == [row]


def test_a_row_comes_back_with_its_sizes(tmp_path: Path) -> None:
    """From JSON and from parquet; in a summary each size has a line."""
    row = a_row(a_point())
    assert Row.from_json(row.to_json()) == row
    assert read_parquet(write_parquet([row], tmp_path / "rows.parquet")) == [row]
    with write_summary([row], tmp_path / "summary.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [line["size_bytes"] for line in lines] == ["1024", "1073741824"]
    assert [float(line["time_pipelined_s"]) for line in lines] == pytest.approx(
        [4.8e-9, 5.033165e-3]
    )
    assert "makespan_s" not in lines[0]


def test_failed_rows_have_no_sizes() -> None:
    """One that failed has no sizes, and stays one row."""
    row = replace(a_row(a_point()), status=Status.TIMEOUT, sizes={})
    assert row.by_size() == [row]


def test_a_point_runs_again_for_sizes_that_its_row_lacks() -> None:
    """More sizes are asked for, or the row is from before there were any; fewer are no reason."""
    row = a_row(a_point())
    assert is_done(a_point(), row)
    assert is_done(a_point(sizes=(1024,)), row)
    assert is_done(a_point(sizes=()), row)
    assert not is_done(a_point(sizes=(1024, 2048)), row)
    assert not is_done(a_point(), a_row(a_point(sizes=())))


def test_the_size_is_along_the_axis() -> None:
    """A panel for each topology, a line for each method, a mark for each size."""
    rows = [one for m in ("ring", "multitree") for one in a_row(a_point(m)).by_size()]
    (panel,) = lines_by_size(rows, "size_bytes", "time_pipelined_s").panels
    assert {one.name: [point.x for point in one.points] for one in panel.series} == {
        "ring": list(SIZES),
        "multitree": list(SIZES),
    }
    assert (panel.x.label, panel.x.scale) == ("size of the data", "bytes")
    assert panel.y.label == "theoretical time, pipelined (s)"


def test_an_experiment_with_sizes_runs_and_is_drawn(app, write_experiment, tmp_path: Path) -> None:
    """From the file to the figures; a second run with another size adds it and runs anew."""
    figures = [
        "lines-by-size:y=time_synchronous_s",
        "heat-map:x=size_bytes,y=topology,value=time_pipelined_s",
    ]
    results = tmp_path / "results"
    for sizes, options in ((["1KB..4KB"], ["--no-figures"]), (["1KB..4KB", 5000], ["--json"])):
        path = write_experiment(topologies=RING, sizes=sizes, figures=figures)
        done = CliRunner().invoke(app, [str(path), "--results", str(results), *options])
        assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert all(list(row["sizes"])[-1] == "5000" for row in document["rows"])
    names = {Path(file).name for file in document["files"]}
    assert "lines-by-size-y-time_synchronous_s.png" in names
    assert "heat-map-x-size_bytes-y-topology-value-time_pipelined_s.pdf" in names
    assert len(read_rows(results / "toy" / "rows.jsonl")) == 2


def test_every_sized_measure_can_be_drawn() -> None:
    assert ("time_pipelined_s", "time_synchronous_s", "makespan_s", *SIMULATED) == SIZED


SIMULATE = {"alpha_us": 10, "gamma_s_per_gb": 0, "sharing": "fair", "pipeline_chunks": "best"}


def test_simulations_are_kept_by_size(tmp_path: Path) -> None:
    """A ring of 16 takes 15 hops of 10 us; at least one and 20 ns. Whole numbers stay whole."""
    row = a_row(a_point(simulate=SIMULATE))
    small = row.sizes["1024"]
    assert small["time_simulated_s"] == pytest.approx(150e-6, rel=1e-3)
    assert small["simulated_over_bound"] == pytest.approx(15 / 1.002, rel=1e-3)
    assert row.simulated == "alpha 10 us, fair sharing, best pipeline chunks"
    assert row.unsimulated is None
    again = Row.from_json(row.to_json())
    assert again == row
    assert type(again.sizes["1024"]["pipeline_chunks_simulated"]) is int
    assert read_parquet(write_parquet([row], tmp_path / "rows.parquet")) == [row]
    with write_summary([row], tmp_path / "summary.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert lines[0]["pipeline_chunks_simulated"] == "1"
    assert lines[0]["simulated"] == row.simulated


def test_schedules_without_a_program_keep_their_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without simulated values, with a remark."""

    def refuses(_: object) -> None:
        raise UnsupportedError("unsupported: too many units")

    monkeypatch.setattr("experiments.measures.simulated.compile_program", refuses)
    row = a_row(a_point(simulate=SIMULATE))
    assert row.status is Status.OK
    assert row.unsimulated == "too many units"
    assert row.sizes["1024"].keys() == {"time_pipelined_s", "time_synchronous_s"}
    assert is_done(a_point(simulate=SIMULATE), row)


def test_a_simulation_beyond_its_bound_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is theoretical stays in the row, which says why it failed."""
    monkeypatch.setattr("experiments.measures.simulated.SimulatedBound.least_s", lambda *_: 1.0)
    row = a_row(a_point(simulate=SIMULATE))
    assert row.status is Status.FAILED
    assert "in the simulation, less than the lower bound of" in row.reason
    assert row.verified is False


def test_a_point_runs_again_for_simulations_that_its_row_lacks() -> None:
    """Or that assume something else; none at all ask for nothing."""
    row = a_row(a_point(simulate=SIMULATE))
    assert is_done(a_point(), row)
    assert is_done(a_point(simulate=SIMULATE), row)
    assert not is_done(a_point(simulate={**SIMULATE, "alpha_us": 5}), row)
    assert not is_done(a_point(simulate=SIMULATE), a_row(a_point()))


@pytest.mark.slow
def test_limits_hold_for_simulations(app, write_experiment, tmp_path: Path) -> None:
    """Over a second of them: what was measured before, and the sizes simulated, are kept."""
    path = write_experiment(
        topologies=[{"family": "torus", "parameters": {"dims": "3x4x5"}}],
        methods=[{"name": "multitree"}],
        sizes=["1KB", "1GB..512GB"],
        simulate={"sharing": "fifo"},
        limits={"seconds": 2},
    )
    results = tmp_path / "results"
    done = CliRunner().invoke(app, [str(path), "--results", str(results)])
    assert done.exit_code == 0, done.output
    (row,) = read_rows(results / "toy" / "rows.jsonl")
    assert (row.status, row.reason) == (Status.TIMEOUT, "over 2 s in phase 'simulate'")
    assert row.verified
    assert row.algbw_gb_s
    assert "time_pipelined_s" in row.sizes["1024"]
