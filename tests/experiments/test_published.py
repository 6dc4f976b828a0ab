"""Published values: whole, in the units of their measures, and drawn beside what they are of."""

import csv
from fractions import Fraction
from importlib import resources

import pytest

from experiments import published
from experiments.measures.declared import DRAWN
from experiments.published import marks, training_shares
from experiments.training.known_models import MODELS


def test_published_files_parse_and_agree_with_themselves() -> None:
    """The algbw is N / (1/x*), to the three digits given; the stages add up to the total."""
    folder = resources.files(published)
    optima = list(csv.DictReader(folder.joinpath("forestcoll_optima.csv").read_text().splitlines()))
    assert len(optima) == 14
    for row in optima:
        exact = int(row["gpus"]) / Fraction(row["inverse_rate"])
        assert float(exact) == pytest.approx(float(row["algbw_gb_s"]), abs=5e-4)
    for row in csv.DictReader(
        folder.joinpath("forestcoll_generation.csv").read_text().splitlines()
    ):
        if row["optimality_s"]:
            stages = ("optimality_s", "switch_removal_s", "tree_packing_s")
            total = sum(float(row[stage]) for stage in stages)
            assert total == pytest.approx(float(row["generation_s"]), rel=0.05)
    assert {mark.cluster for mark in marks("algbw_gb_s")} >= {"dgx_a100", "dgx_h100", "mi250"}
    assert max(mark.value for mark in marks("generation_s")) == 2262  # 37.7 minutes


def test_any_measure_has_the_marks_of_its_column(monkeypatch: pytest.MonkeyPatch) -> None:
    """A column with its name in any of the files; an empty cell is none."""
    assert len(marks("k")) >= 14
    assert len(marks("algbw_gb_s")) >= 14
    assert marks("depth") == []
    table = [
        {"cluster": "c", "gpus": "8", "depth": "3", "label": "a paper", "collectives": "reduce"},
        {"cluster": "c", "gpus": "9", "depth": "", "label": "a paper", "collectives": "reduce"},
    ]
    monkeypatch.setattr(published, "_tables", lambda: {"new.csv": table})
    (mark,) = marks("depth")
    assert (mark.gpus, mark.value, mark.label) == (8, 3.0, "a paper")


def test_marks_are_only_beside_rows_that_they_are_of() -> None:
    """Optima of allgathers hold for reduce-scatters, and are about twice those of allreduces."""
    assert len(marks("algbw_gb_s", {"allgather", "reduce-scatter"})) >= 14
    assert marks("algbw_gb_s", {"allreduce"}) == []
    assert marks("algbw_gb_s", {"allgather", "allreduce"}) == []


def test_no_column_is_a_measure_by_a_slip() -> None:
    """Those that figures show are the published ones; a slip of the name would hide a value."""
    columns = {name for table in published._tables().values() for name in table[0]}
    assert columns & DRAWN.keys() == {"algbw_gb_s", "generation_s", "k"}
    assert set(published._MEASURED.values()) <= columns


def printed_in(name: str) -> list[dict[str, str]]:
    text = resources.files(published).joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def test_measured_values_stand_beside_simulated_ones() -> None:
    """Of two A100: by method at four sizes each; averages are of all sizes, and no marks."""
    found = marks("algbw_simulated_gb_s", {"allreduce"})
    assert {(mark.method, mark.size_bytes) for mark in found} == {
        (method, size)
        for method in ("forestcoll", "nccl-tree", "ring")
        for size in (2**20, 2**24, 2**27, 2**30)
    }
    assert {(mark.cluster, mark.gpus) for mark in found} == {("dgx_a100", 16)}
    assert marks("algbw_simulated_gb_s", {"broadcast"}) == []
    assert len(marks("algbw_simulated_gb_s")) == 8 * 4
    measured = printed_in("forestcoll_measured.csv")
    assert len(measured) == 8 * 5 + 1
    for row in measured:
        assert bool(row["size_bytes"]) == bool(row["algbw_measured_gb_s"])


def test_shares_of_training_are_those_of_known_models() -> None:
    """Three exact shares and three limits; what is visible is what is not computation."""
    found = {one.model: one for one in training_shares()}
    assert found.keys() <= MODELS.keys()
    assert sum(one.exact for one in found.values()) == 3
    llama = found["llama-3-119b"]
    assert (round(llama.visible, 9), llama.saved, llama.exact) == (0.57, 0.2, True)
