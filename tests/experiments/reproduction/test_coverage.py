"""What counts as reproduced, and that what is said to be is there."""

import shutil
from pathlib import Path

import pytest

from experiments.reproduction import coverage as module
from experiments.reproduction.coverage import Coverage, Share
from experiments.reproduction.difference import Difference
from experiments.reproduction.inventory import Item, Otherwise
from experiments.results.rows import RowFile, Status
from forestcoll.errors import InvalidExperimentError
from tests.experiments.reproduction.conftest import TOY
from tests.experiments.samples import clusters_of_rows


def faults(
    clone: Path, monkeypatch: pytest.MonkeyPatch, *, rows: tuple[str, ...] = (), **of: object
) -> tuple[str, ...]:
    item = Item("EF5", "table 1", "x", ("T",), "done", rows, **of)  # type: ignore[arg-type]
    monkeypatch.setattr(module, "read_items", lambda: [item])
    (one,) = Coverage(clone).shown
    assert one.counts is not bool(one.faults)
    return one.faults


def keep(clone: Path, count: int, status: Status = Status.OK) -> None:
    """Keep rows for the first points of the toy."""
    points = Coverage(clone).parsed("toy").points[:count]
    with RowFile(clone / "results/toy/rows.jsonl", fresh=True) as file:
        for point in points:
            row = clusters_of_rows()[0]
            changes = {"point": point.identity, "status": status, "wall_s": 1.5}
            file.append(type(row)(**{**row.as_dict(), **changes}))


def test_items_need_a_row_for_every_point(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for count, text in ((0, "2 of 2"), (1, "1 of 2")):
        keep(clone, count)
        assert faults(clone, monkeypatch, rows=("toy",)) == (f"{text} points of toy have no row",)
    keep(clone, 2)
    assert faults(clone, monkeypatch, rows=("toy",)) == ()
    assert Coverage(clone).shown[0].seconds == 3.0
    keep(clone, 2, Status.TIMEOUT)  # a result
    assert faults(clone, monkeypatch, rows=("toy",)) == ()
    keep(clone, 2, Status.FAILED)
    (fault,) = faults(clone, monkeypatch, rows=("toy",))
    assert fault.endswith("failed in toy")


def test_items_need_tests_and_files(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert faults(clone, monkeypatch, tests=("tests/test_toy.py::test_it",)) == ()
    lost = "tests/test_toy.py::test_i"
    assert faults(clone, monkeypatch, tests=(lost,)) == (f"there is no test {lost}",)
    assert faults(clone, monkeypatch, others=("results/x.csv",)) == ("there is no results/x.csv",)
    assert faults(clone, monkeypatch) == ("nothing shows it",)
    assert faults(clone, monkeypatch, rows=("none",)) == ("there is no experiment none",)
    with pytest.raises(InvalidExperimentError, match="there is no experiment 'none'"):
        Coverage(clone).parsed("none")


def test_a_clone_without_results_has_none(clone: Path) -> None:
    shutil.rmtree(clone / "results")
    assert Coverage(clone).rows == {}


def test_one_broken_experiment_leaves_others(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is not YAML, one that is not text, one without a name; rows that are damaged."""
    keep(clone, 2)
    toys = clone / "experiments/toys"
    (toys / "a.yaml").write_text(TOY.replace("toy", "a").replace("}]", "]"))
    (toys / "b.yaml").write_bytes(TOY.replace("toy", "b").encode() + b"title: \xff\n")
    (toys / "c.yaml").write_text(TOY.replace("name: toy", ""))
    (toys / "d.yaml").write_text(TOY.replace("toy", "d"))
    (clone / "results/d").mkdir()
    (clone / "results/d/rows.jsonl").write_text("no row\n")
    found = Coverage(clone)
    assert list(found.rows) == ["toy"]
    assert list(found.broken) == ["a", "b", "toys/c.yaml", "d"]
    for name, file in (("a", "a.yaml"), ("b", "b.yaml"), ("toys/c.yaml", "c.yaml"), ("d", "rows")):
        assert file in found.broken[name]
        assert "\n" not in found.broken[name]
    assert faults(clone, monkeypatch, rows=("toy",)) == ()
    assert faults(clone, monkeypatch, rows=("toy", "d")) == ("d is broken",)


def test_differences_must_be_known(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only numbers of theory, and only of the item that says so."""
    known = Otherwise("T_L", 0.5, "misprinted")
    monkeypatch.setattr(
        module, "read_items", lambda: [Item("EB7", "x", "x", ("T",), "done", otherwise=(known,))]
    )
    one, other = (Difference(item, "T_L", "4", 5) for item in ("EB7", "EB8"))
    time = Difference("EB7", "seconds", "4", 5, kind="time")
    monkeypatch.setattr(Coverage, "differences", (one, other, time))
    assert Coverage(clone).otherwise == (one, other)
    assert Coverage(clone).unexplained == (other,)


def test_every_printed_number_that_comes_out_otherwise_is_explained(coverage: Coverage) -> None:
    """And nothing is explained that does not."""
    assert coverage.unexplained == ()
    for one in coverage.shown:
        for reason in one.item.otherwise:
            assert any(reason.covers(it) for it in coverage.otherwise), reason


def test_all_theory_and_most_software_numbers_are_reproduced(coverage: Coverage) -> None:
    """Nothing that is said to be is missing; of theory all is reproduced, as far as it can be."""
    assert {one.item.item: one.faults for one in coverage.shown if one.faults} == {}
    rest = {one.item.item for one in coverage.shown if one.item.by_theory and not one.counts}
    assert rest == set()
    software = coverage.share(by_theory=False)
    assert software == Share(whole=5, to_the_limit=20, at_all=24, public=24, of=27)
    assert software.to_the_limit >= 0.7 * software.of
    theory = coverage.share(by_theory=True)
    assert theory == Share(whole=32, to_the_limit=41, at_all=43, public=43, of=43)
