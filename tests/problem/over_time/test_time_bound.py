"""Bounds on time in words and numbers."""

from dataclasses import replace
from fractions import Fraction

from forestcoll import time_bound
from tests.hand_networks import network_of


def test_a_cut_in_words():
    bound = time_bound("dgx_a100:boxes=2", "allgather", 4_000_000)
    assert bound.in_words() == [
        "2000000 bytes of GPUs 0-7 of box 1 must reach GPU 0 of box 0",
        "0 us from the start: GPUs 0-7 of box 1",
        "10 us from the start: switch b1.nvswitch",
        "18.75 us from the start: GPUs 1-7 of box 0 and switch ib",
        "28.75 us from the start: GPU 0 of box 0 and switch b0.nvswitch",
        "1 link of 25 GB/s for 10 us, from switch ib to GPU 0 of box 0",
        "8 links of 25 GB/s for 8.75 us, from GPUs 0-7 of box 1 to switch ib",
    ]


def test_a_reduction_in_words_runs_backwards():
    bound = time_bound("dgx_a100:boxes=2", "reduce-scatter", 4_000_000)
    first, second, *_, last = bound.in_words()
    assert first == "2000000 bytes of GPU 0 of box 0 must contribute to GPUs 0-7 of box 1"
    assert second == "0 us before the end: box 1 (8 GPUs)"
    assert last == "8 links of 25 GB/s for 8.75 us, from switch ib to GPUs 0-7 of box 1"


def test_the_amount_of_pairs_in_words():
    network = network_of("a b", "a - b: 2")
    for collective, words in [
        ("all-to-all", "500 bytes of GPU b must reach GPU a"),
        ("allreduce", "1000 bytes of GPU b must contribute to GPU a"),
    ]:
        assert time_bound(network, collective, 1000, 1).in_words()[0] == words
    line = network_of("a b c d", "a - b: 1, b - c: 1, c - d: 1")
    words, *_ = time_bound(line, "all-to-all", 10**9, 1).in_words()
    assert words == "1000000000 bytes of GPUs c and d must reach GPUs a and b"


def test_a_delayed_rate_in_words():
    network = network_of("r a b c [s]", "r > s: 1 1, s > a b c: 1 1")
    bound = time_bound(network, "broadcast", 10_000, 2, root="r")
    assert bound.in_words() == [
        "links carry nothing of use for 4 us, and data for 30 us at 0.333333 GB/s at most"
    ]


def test_rates_and_shares():
    bound = time_bound("dgx_a100:boxes=2", "allgather", 4_000_000)
    assert bound.algbw_gb_s == 4000 / Fraction("28.75")
    assert bound.share_of_rate == Fraction(150, 13) / Fraction("28.75")
    assert not bound.reduction
    pairs = time_bound("ring:nodes=3", "all-to-all", 3_000_000)
    assert pairs.share_of_rate == Fraction(1000, 1010)  # 1 MB over each link, and 10 us


def test_it_is_shown_in_brief():
    bound = time_bound("dgx_a100:boxes=2", "allgather", 4_000_000)
    assert (
        repr(bound) == "<TimeBound allgather on dgx_a100:boxes=2, 4000000 bytes: at least 28.75 us>"
    )
    assert "28.75 us" in bound._repr_html_()


def test_parts_of_a_byte_and_long_lists_in_words():
    """A path of 12: 1/12 of 10 bytes; 12 labels, of which 8 are listed."""
    path = network_of("g0..11", ", ".join(f"g{i} - g{i + 1}" for i in range(11)))
    words = time_bound(path, "allgather", 10).in_words()
    assert words[0].startswith("0.833333 bytes of GPU g11 must reach GPU g0")
    assert sum("from the start" in line for line in words) == 8


def test_without_a_bound_on_the_rate_there_is_no_share():
    bound = time_bound("dgx_a100:boxes=2", "allgather", 4_000_000)
    assert replace(bound, by_rate_us=None).share_of_rate is None


def test_links_that_cross():
    """25 000 (8 x 8.75 + 10) bytes; none cross a rate after a delay."""
    bound = time_bound("dgx_a100:boxes=2", "allgather", 4_000_000)
    assert sum(link.bandwidth_gb_s * us for link, us in bound.crossing) == 2000
    back = time_bound("dgx_a100:boxes=2", "reduce-scatter", 4_000_000)
    assert sum(link.bandwidth_gb_s * us for link, us in back.crossing) == 2000
    assert time_bound("torus:dims=3x3", "allreduce", 10**9).crossing == []
    (short,) = time_bound(network_of("a b", "a - b: 2"), "allgather", 1000, 1).crossing
    assert short[1] == Fraction(1, 4)  # of a microsecond, for the 500 bytes of one GPU
