"""Loads of links that trees can have, and loads that none can."""

import json
from pathlib import Path

import pytest

from forestcoll import certify
from forestcoll import write_certificate as write
from forestcoll.errors import VerificationError
from forestcoll.schedule.verification.certificates.tree_loads import TreeLoads, check_trees_exist
from forestcoll.topology import Topology
from tests.command_line import by_the_script, invoke
from tests.hand_networks import network_of
from tests.schedule.verification.certificates.by_command import refused_by_both


def two_pairs() -> Topology:
    """Pairs a, b and c, d with 3 GB/s each way inside, and 10 GB/s between a and c."""
    return network_of("a b c d", "a - b: 3, c - d: 3, a - c: 10", "two pairs")


def test_loads_that_no_trees_can_have_are_found(tmp_path: Path) -> None:
    """All add up at every GPU, but each pair sends in circles and nothing to the other."""
    certificate = certify(two_pairs())
    assert (certificate.k, certificate.congestion) == (1, 1)
    path = tmp_path / "false.json"
    write(certificate, path)
    forged = json.loads(path.read_text())
    for link in forged["links"]:
        link["trees"] = 0 if {link["from"], link["to"]} == {"a", "c"} else 3
    refused_by_both(forged, path)
    result = invoke("verify", path)
    assert "only 2 of 4 trees can flow over the loads" in result.stderr
    assert "the trees of all roots can flow to a" in by_the_script(path).stderr


def test_a_switch_that_keeps_trees_is_found(tmp_path: Path) -> None:
    """Loads that are right at every GPU; the switch gets one tree more than it sends."""
    path = tmp_path / "false.json"
    write(certify(network_of("a b [w]", "a - b w, b - w", "triangle")), path)
    forged = json.loads(path.read_text())
    link = next(link for link in forged["links"] if link["to"] == "w")
    link["trees"] -= 1
    refused_by_both(forged, path)
    assert "w only forwards, but receives" in invoke("verify", path).stderr


def loads(
    roots: dict[str, int], links: dict[str, int], forwarding: str = "", *, reduction: bool = False
) -> TreeLoads:
    """Links by their two letters, in the direction of the data."""
    return TreeLoads(
        roots, tuple(forwarding), {(a, b): n for (a, b), n in links.items()}, reduction
    )


def test_trees_that_exist_are_found_either_way_round() -> None:
    """A one-way ring of three with k = 1: each link bears the trees of two roots."""
    ring = {"ab": 2, "bc": 2, "ca": 2}
    check_trees_exist(loads(dict.fromkeys("abc", 1), ring))
    check_trees_exist(loads(dict.fromkeys("abc", 1), ring, reduction=True))
    check_trees_exist(loads({"a": 3, "b": 0, "c": 0}, {"ab": 3, "bc": 3}))
    check_trees_exist(loads({"c": 3, "b": 0, "a": 0}, {"ab": 3, "bc": 3}, reduction=True))
    check_trees_exist(loads({"a": 1, "b": 1}, {"aw": 1, "wb": 1, "bw": 1, "wa": 1}, "w"))


def test_a_blocking_flow_is_rerouted() -> None:
    """The tree of s reaches t by u at first, which is the only way of the tree of q: it must give
    way and go by v.
    """
    ways = dict.fromkeys(("su", "qu", "sv", "ut", "vt", "tv", "ts", "tq"), 1)
    check_trees_exist(loads({"t": 0, "s": 1, "q": 1, "u": 0, "v": 0}, ways))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (  # as above, but both trees of q need the one place from u to t: one finds none
            loads(
                {"t": 0, "s": 1, "q": 2, "u": 0, "v": 0},
                {"su": 1, "qu": 2, "sv": 2, "ut": 1, "vt": 2, "tv": 1, "ts": 2, "tq": 1},
            ),
            "only 2 of 3 trees can flow over the loads .* and t",
        ),
        (loads({"a": 1, "b": 1}, {"ab": 1, "ba": 2}), "a receives 2 trees; 1 are rooted elsewhere"),
        (loads({"a": 1, "b": 1}, {"ab": 1}, reduction=True), "b sends 0 trees; 1 are rooted"),
        (loads({"a": 1, "b": 0}, {"aw": 2, "wb": 1}, "w"), "w only forwards, but receives 2 trees"),
        (
            loads({"a": 1, "b": 0, "c": 0}, {"bc": 1, "cb": 1}),
            "only 0 of 1 trees can flow over the loads .* and b",
        ),
        (
            loads({"a": 2, "b": 0, "c": 0, "d": 0}, {"ab": 2, "cd": 2, "bc": 1, "dc": 1}),
            "only 1 of 2 trees can flow .* and c",
        ),
    ],
)
def test_loads_without_trees_name_the_failing_node(wrong: TreeLoads, message: str) -> None:
    """Numbers at GPUs, at what forwards, and flows that do not get there."""
    with pytest.raises(VerificationError, match=message):
        check_trees_exist(wrong)
