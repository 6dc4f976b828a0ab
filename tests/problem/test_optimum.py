"""An optimum as a number: rates, times and names follow from the cut and the weights."""

from fractions import Fraction

from forestcoll.problem.optimum import Optimum
from forestcoll.topology import load_topology


def test_the_rates_of_the_running_example() -> None:
    """ForestColl figure 5: four shards over 4 GB/s, 1/x* = 1; eight GPUs: 8 GB/s, 1/8 s/GB."""
    example = load_topology("paper_example")
    box = tuple(example.position_of[name] for name in ("c1.1", "c1.2", "c1.3", "c1.4", "w1"))
    best = Optimum(example, Fraction(1), box, 1, Fraction(1))
    assert best.weights == (1,) * 8
    assert (best.collective, best.algbw_gb_s, best.time_s_per_gb) == (
        "allgather",
        8,
        Fraction(1, 8),
    )
    assert best.bottleneck.nodes == tuple(sorted(box))
    assert best.certificate() == best.inverse_rate


def test_a_wrong_ratio_is_not_that_of_its_cut() -> None:
    """All but gpu3 of a ring of four: three shards over 2 GB/s, whatever is claimed."""
    ring = load_topology("ring:nodes=4")
    claimed = Optimum(ring, Fraction(2), (0, 1, 2), 1, Fraction(1, 2))
    assert claimed.certificate() == Fraction(3, 2) != claimed.inverse_rate


def test_weights_count_parts_of_the_data() -> None:
    """Parts 1, 2, 0, 3: three of six cross into gpu3 over 2 GB/s; 1/x* = 3/2, 6 parts: 4 GB/s."""
    ring = load_topology("ring:nodes=4")
    best = Optimum(ring, Fraction(3, 2), (0, 1, 2), 2, Fraction(3), (1, 2, 0, 3))
    assert best.certificate() == Fraction(3, 2)
    assert (best.algbw_gb_s, best.time_s_per_gb) == (4, Fraction(1, 4))


def test_sums_enter_the_cut_of_a_reduction() -> None:
    """A reduce to gpu1 of a one-way ring, 3 GB/s: the sum enters over one link."""
    ring = load_topology("ring:nodes=3,bidirectional=false,bandwidth=3")
    best = Optimum(ring, Fraction(1, 3), (1,), 1, Fraction(3), (0, 1, 0), reduction=True)
    assert best.collective == "reduce"
    assert best.certificate() == Fraction(1, 3)
    assert "the sum must enter it over 1 link" in best.bottleneck.in_words()


def test_an_optimum_in_a_line_and_in_a_table() -> None:
    """All but gpu3 of a ring of four: 3 shards over 2 GB/s, 3/2 s per GB of a shard."""
    ring = load_topology("ring:nodes=4")
    best = Optimum(ring, Fraction(3, 2), (0, 1, 2), 2, Fraction(3))
    assert best.in_a_line() == "allgather on ring:nodes=4: 8/3 = 2.66667 GB/s, k = 2"
    table = best.in_a_table()
    classes = [str(one) for one in best.bottleneck.exit_classes()]
    assert list(map(str, table["bottleneck cut"])) == [best.bottleneck.in_words(), *classes]  # type: ignore[call-overload]
    assert (table["topology"], table["collective"], table["k"]) == ("ring:nodes=4", "allgather", 2)
    assert (table["algbw"], table["1/x*"]) == ("8/3 = 2.66667 GB/s", "3/2 s/GB")
