"""The command ``forestcoll topology find``."""

from __future__ import annotations

from pathlib import Path

import pytest

from baselines.topology_finder import degraded
from forestcoll.errors import TimeLimitError
from forestcoll.schedule import read_schedule, verify
from forestcoll.topology import read_topology
from tests.command_line import assert_refused, document, invoke

FIND = ("topology", "find")


def test_the_front_is_a_table_with_its_bounds() -> None:
    shown = invoke(*FIND, "--nodes", "64", "--degree", "4", "--size", "1MB", "--size", "64KB:3")
    assert shown.exit_code == 0, shown.output
    assert shown.stdout == (
        "64 GPUs; allreduce of 1MB, 64KB 3 times; 10.0 us a hop\n"
        "T_L in hops and T_B in M / B (data over a GPU's bandwidth) are of an allgather\n"
        "f is a bound on the rate of a pair of GPUs in an all-to-all, in links\n"
        "\n"
        "    network                    d  T_L     T_B        f          us  of bound\n"
        "  1 DBJ(4,3)                   4    3  1.3125  0.02368       501.5     1.150\n"
        "  2 L(C(16,{3,4}))             4    4  1.0000  0.02198       519.2     1.191\n"
        "  3 UniC(64,{1,2,12,15})       4    5  0.9844  0.01778       596.1     1.367\n"
        "    bounds                     4    3  0.9844  0.02424       436.1\n"
    )


@pytest.mark.slow
def test_machines_get_the_bound_on_the_rate_without_all_to_alls() -> None:
    """Swapped networks have none: their distances are not predicted."""
    one, other = document(*FIND, "--nodes", "20", "--degree", "3", "--swaps", "500")["networks"]
    assert one["all_to_all_rate_links_at_most"] == {"exact": "1/16", "value": 0.0625}
    assert one["all_to_all_rate_links_at_least"] is None
    assert other["edge_swaps"] > 0
    assert other["all_to_all_rate_links_at_most"] is None


def test_machines_get_exact_numbers() -> None:
    text = document(*FIND, "--nodes", "12", "--degree", "4", "--alpha", "1us", "--degraded")
    (one,) = text["networks"]
    assert one["topology"] == "circulant:nodes=12,offsets=2+3"
    assert (one["nodes"], one["degree"], one["hops"]) == (12, 4, 2)
    assert one["t_b"] == {"exact": "11/12", "value": 11 / 12}
    assert one["worst_dead_link"]["connected"]
    assert text["bounds"][0]["hops"] == 2


def test_the_chosen_network_and_its_schedule_are_written(tmp_path: Path) -> None:
    network, schedule, picture = (tmp_path / name for name in ("net.yaml", "s.json", "front.svg"))
    options = ["--bandwidth", "200Gb/s", "--alpha", "2us", "--choose", "2"]
    files = ["-o", network, "--schedule", schedule, "--picture", picture]
    shown = invoke(*FIND, "--nodes", "32", "--degree", "4", *options, *files)
    assert shown.exit_code == 0, shown.output
    topology, made = read_topology(network), read_schedule(schedule)
    assert made.topology.links == topology.links
    assert {(link.bandwidth_gb_s, link.latency_us) for link in topology.links} == {(6.25, 2)}
    verify(made)
    assert made.collective == "allreduce"
    assert "<svg" in picture.read_text(encoding="utf-8")


def test_all_to_alls_budgets_and_dead_links_are_shown() -> None:
    shown = invoke(
        *FIND, "--nodes", "12", "--degree", "2..6", "--port-bandwidth", "25Gb/s", "--ports", "48",
        "--port-price", "100", "--collective", "mix", "--degraded",
    ).stdout  # fmt: skip
    assert "allreduce of 1MB and all-to-all of 1MB" in shown
    assert "all-to-all: 0.2 to 0.2222 of a link for each pair of GPUs" in shown
    assert "4800" in shown
    assert "worst dead link" in shown
    assert not any(line.split()[2:3] == ["5"] for line in shown.splitlines())


def test_the_table_is_printed_although_dead_links_ran_out_of_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def late(topology: object, degree: int) -> None:
        raise TimeLimitError("3 of 40 kinds of links were tried in 60 s; allow more time")

    monkeypatch.setattr(degraded, "worst_failure", late)
    shown = invoke(*FIND, "--nodes", "12", "--degree", "4", "--degraded")
    assert shown.exit_code == 0
    assert "C(12,{2,3})" in shown.stdout
    assert "worst dead link not known: 3 of 40 kinds" in shown.stdout


def test_unequal_directions_are_both_named() -> None:
    shown = invoke(*FIND, "--nodes", "200", "--degree", "4", "--size", "1KB").stdout
    assert "its reduce-scatter: T_L 4, T_B 1.7" in shown


@pytest.mark.slow
def test_edge_swaps_are_an_entry_of_their_own(tmp_path: Path) -> None:
    """Exchanges of ends make Pi_{3,20} faster; the circulant is at its bound and stays."""
    network, schedule = tmp_path / "net.yaml", tmp_path / "s.json"
    options = ["--nodes", "20", "--degree", "3", "--swaps", "500"]
    shown = invoke(*FIND, *options, "--choose", "2", "-o", network, "--schedule", schedule)
    assert shown.exit_code == 0, shown.output
    assert "500 edge swaps of Pi_{3,20}" in shown.stderr
    entries = {one["name"]: one for one in document(*FIND, *options)["networks"]}
    (name,) = (name for name, one in entries.items() if one["edge_swaps"])
    assert f"  2 {name} " in shown.stdout
    assert name.startswith("Pi_{3,20}, ")
    assert entries["UniC(20,{1,3,8})"]["edge_swaps"] == 0
    before = document(*FIND, *options[:4])["networks"]
    (kautz,) = (one for one in before if one["name"] == "Pi_{3,20}")
    assert entries[name]["time_us"]["value"] < kautz["time_us"]["value"]
    made = read_schedule(schedule)
    verify(made)
    assert made.topology.links == read_topology(network).links


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--nodes", "1", "--degree", "4"], "nodes is 1; it must be from 2 to 4096"),
        (["--nodes", "8", "--degree", "0"], "degree is 0"),
        (["--nodes", "8", "--degree", "many"], "--degree is 'many'"),
        (["--nodes", "8", "--degree", "3..2"], "--degree is '3..2'"),
        (["--nodes", "7", "--degree", "3", "--bidirectional"], "nearest number of nodes is 8"),
        (["--nodes", "8", "--degree", "2", "--alpha", "-1us"], "--alpha"),
        (["--nodes", "8", "--degree", "2", "--alpha", "soon"], "--alpha"),
        (["--nodes", "8", "--degree", "2", "--bandwidth", "100G"], "--bandwidth"),
        (["--nodes", "8", "--degree", "2", "--bandwidth", "0"], "--bandwidth is '0'"),
        (["--nodes", "8", "--degree", "2", "--size", "big"], "size has 'big'"),
        (["--nodes", "8", "--degree", "2", "--collective", "scan"], "collective is 'scan'"),
        (
            ["--nodes", "8", "--degree", "2", "--size", "all-to-all=1MB", "--schedule", "s.json"],
            "--schedule needs a size of allgather",
        ),
        (
            ["--nodes", "8", "--degree", "2", "--size", "all-to-all=1MB", "--swaps", "9"],
            "edge swaps need a size of allgather",
        ),
        (["--nodes", "8", "--degree", "2", "--picture", "front.doc"], "front.doc"),
        (["--nodes", "8", "--degree", "2", "--choose", "99"], "--choose is 99; the table has"),
        (["--nodes", "8", "--degree", "2", "--ports", "8"], "the budget allows 8 nodes no degree"),
        (["--nodes", "8", "--degree", "2", "--money", "9"], "--money needs the price of a port"),
        (
            ["--nodes", "8", "--degree", "2", "--money", "x", "--port-price", "1"],
            "--money is 'x'",
        ),
        (
            ["--nodes", "8", "--degree", "2", "--bandwidth", "1", "--port-bandwidth", "1"],
            "give --bandwidth or --port-bandwidth",
        ),
    ],
)
def test_wrong_input_is_refused_in_one_line(options: list[str], message: str) -> None:
    assert_refused(message, *FIND, *options)
