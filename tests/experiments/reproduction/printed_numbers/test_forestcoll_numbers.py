"""ForestColl's tables and derived optima come out to the printed digits."""

from experiments.published import printed
from experiments.reproduction.coverage import Coverage
from experiments.reproduction.printed_numbers.forestcoll_numbers import differences


def test_all_that_follows_from_theory_comes_out(coverage: Coverage) -> None:
    """What rings send twice, table 1, and the optima of all clusters that rows are of."""
    found = [d for d in differences(coverage.rows) if d.kind in ("theory", "derived")]
    assert [d for d in found if not d.equal] == []
    assert sum(d.item == "EF5" for d in found) == len(printed("forestcoll_fixed_k.csv")) + 1
    assert sum(d.item == "EF3" for d in found) == 1
    optima = [d for d in found if d.what.startswith("optimal")]
    missing = {line["cluster"] + line["gpus"] for line in printed("forestcoll_optima.csv")} - {
        d.what.split(", ")[1] + d.what.split(", ")[2].split()[0] for d in optima
    }
    assert missing <= {"mi25080"}  # five boxes, of which there is no row


def test_measured_values_are_compared_with_simulations(coverage: Coverage) -> None:
    """Ratios with their item, and the slides' 32 values on two A100, 9 averages and 6 ratios."""
    found = [d for d in differences(coverage.rows) if d.kind == "simulated"]
    assert sum(d.item == "ES6" for d in found) == 32 + 9 + 6
    items = {d.item for d in found}
    assert items == {"EF7", "EF8", "EF9", "EF10", "EB16", "EB17", "ES6", "EF12"}


def test_generation_times_are_those_of_1024_gpus(coverage: Coverage) -> None:
    """The paper's half-hours beside ours, which take less than a second; and the three stages."""
    found = [d for d in differences(coverage.rows) if d.item == "EF16"]
    assert [d.printed for d in found[::4]] == ["2190", "2262"]
    assert [d.printed for d in found[1:4]] == ["2.2", "979", "1209"]
    assert all(d.ours < 60 for d in found)
    for total, *stages in (found[:4], found[4:]):
        assert 0.9 * total.ours < sum(d.ours for d in stages) <= total.ours
