"""Topologies of TACCL: the network a file describes, and how faulty ones are refused."""

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

from forestcoll.topology import Topology, load_topology, validate
from forestcoll.topology.families.constants import DGX1_LINKS
from forestcoll.topology.importers.taccl_input import is_taccl, topology_from_taccl
from forestcoll.topology.reading.documents import parse_json
from tests.topology.texts import GOOD, fault, read

NDV2 = """\
{
    "name": "NDv2_1MB",
    "gpus_per_node": 8,
    "nics_per_node": 1,
    "alpha": 0.3,
    "node_betas_list": [23, 46],
    "node_invbws_list":  [23, 46],
    "remote_invbw": 107,
    "remote_alpha": 2.6,
    "remote_beta": 105
}
"""

NDV2_32KB = """\
{
    "name": "NDv2_32KB",
    "gpus_per_node": 8,
    "nics_per_node": 1,
    "alpha": 3,
    "node_betas_list": [7.18, 14.38],
    "node_invbws_list":  [10.18, 17.38],
    "remote_alpha": 26,
    "remote_beta": 32.8,
    "remote_invbw": 59
}
"""

DGX2 = """\
{
    "name": "DGX2_1KB",
    "gpus_per_node": 16,
    "nics_per_node": 8,
    "alpha": 30,
    "node_betas_list": [1],
    "node_invbws_list":  [31],
    "remote_invbw": 270,
    "remote_alpha": 260,
    "remote_beta": 10.25
}
"""

CUSTOM: dict[str, object] = {
    "name": "three_1MB",
    "gpus_per_node": 3,
    "alpha": 0,
    "links": [[0, 0, 1], [2, 0, 0], [0, 1, 0]],
    "betas": [[0, 0, 10], [20, 0, 0], [0, 40, 0]],
    "invbws": [[0, 0, 10], [21, 0, 0], [0, "40.5", 0]],
}
"""A ring 0 -> 1 -> 2 -> 0, whose first link is two."""


def taccl(text: str, **changes: object) -> Topology:
    return topology_from_taccl(parse_json(changed(text, **changes), "net.json"))


def changed(text: str, **changes: object) -> str:
    """Put fields into a file; None takes one out."""
    fields = {**json.loads(text, parse_float=str), **changes}
    return json.dumps({key: value for key, value in fields.items() if value is not None})


def links(topology: Topology) -> dict[tuple[str, str], tuple[Fraction, Fraction]]:
    """Bandwidth and latency of every link, by the names of its ends."""
    names = [node.name for node in topology.nodes]
    return {
        (names[link.tail], names[link.head]): (link.bandwidth_gb_s, link.latency_us)
        for link in topology.links
    }


def test_a_box_of_ndv2(tmp_path: Path) -> None:
    """A megabyte in 23 us is 1000/23 GB/s, in 46 half of it; wired as a DGX-1, no latency."""
    path = tmp_path / "topo-ndv2-1MB.json"
    path.write_text(NDV2, encoding="utf-8")
    topology = load_topology(str(path))
    assert topology.name == "NDv2_1MB"
    assert [node.name for node in topology.nodes] == [f"b0.gpu{i}" for i in range(8)]
    assert [(node.box, node.index) for node in topology.nodes] == [(0, i) for i in range(8)]
    assert {(link.tail, link.head): link.bandwidth_gb_s for link in topology.links} == {
        pair: Fraction(1000, 46) * count
        for count, pairs in DGX1_LINKS.items()
        for a, b in pairs
        for pair in ((a, b), (b, a))
    }
    assert {link.latency_us for link in topology.links} == {0}
    validate(topology)


def test_invbw_above_beta_becomes_latency() -> None:
    """10.18 - 7.18 and 17.38 - 14.38 are 3 us; 32,000 bytes in 7.18 us are 32/7.18 GB/s."""
    found = links(taccl(NDV2_32KB))
    assert found["b0.gpu0", "b0.gpu1"] == (Fraction(3200, 718), 3)
    assert found["b0.gpu2", "b0.gpu0"] == (Fraction(3200, 1438), 3)


def test_a_box_of_dgx2() -> None:
    """One beta: GPUs on a switch; half of 31 - 1 us on the way in, half on the way out."""
    topology = taccl(DGX2)
    assert [node.name for node in topology.nodes if node.is_switch] == ["b0.nvswitch"]
    assert topology.nodes[topology.switches[0]].box == 0
    expected = {}
    for i in range(16):
        expected[f"b0.gpu{i}", "b0.nvswitch"] = (Fraction(1), Fraction(15))
        expected["b0.nvswitch", f"b0.gpu{i}"] = (Fraction(1), Fraction(15))
    assert links(topology) == expected
    validate(topology)


def test_any_number_of_gpus_on_a_switch() -> None:
    assert taccl(DGX2, gpus_per_node=3, nics_per_node=1).num_compute == 3


def test_boxes_of_dgx2() -> None:
    """16 GPUs with 8 NICs: two share one, which is 260 us from those of other boxes."""
    topology = taccl(DGX2, nnodes=2)
    assert topology.name == "DGX2_1KB:nnodes=2"
    assert topology.num_compute == 32
    assert len(topology.switches) == 2 * (1 + 8) + 1
    found = links(topology)
    assert len(found) == 2 * (2 * (16 + 16 + 8))
    nic = Fraction(100, 1025)  # GB/s: a kilobyte in 10.25 us
    for box in range(2):
        for gpu in range(16):
            gpu_name, nic_name = f"b{box}.gpu{gpu}", f"b{box}.nic{gpu // 2}"
            assert found[gpu_name, nic_name] == found[nic_name, gpu_name] == (nic, 0)
        for i in range(8):
            nic_name = f"b{box}.nic{i}"
            assert found[nic_name, "ib"] == found["ib", nic_name] == (nic, 130)
    one = topology.nodes[topology.position_of["b1.nic5"]]
    assert (one.box, one.index) == (1, 5)
    validate(topology)


def test_boxes_of_ndv2() -> None:
    """One NIC of 1000/105 GB/s a box, for all 8 GPUs; 2.6 us from box to box."""
    topology = taccl(NDV2, nnodes=4)
    found = links(topology)
    assert len(found) == 4 * 2 * (16 + 8 + 1)
    assert found["b3.gpu7", "b3.nic0"] == (Fraction(1000, 105), 0)
    assert found["b3.nic0", "ib"] == (Fraction(1000, 105), Fraction(13, 10))
    assert found["b3.gpu0", "b3.gpu1"] == (Fraction(1000, 23), 0)
    validate(topology)


@pytest.mark.parametrize(
    ("gpus", "nics", "shares"),
    [(4, 4, [0, 1, 2, 3]), (5, 2, [0, 0, 0, 1, 1]), (5, 3, [0, 0, 1, 1, 2])],
)
def test_gpus_next_to_each_other_share_a_nic(gpus: int, nics: int, shares: list[int]) -> None:
    found = links(taccl(DGX2, gpus_per_node=gpus, nics_per_node=nics, nnodes=2))
    for gpu, nic in enumerate(shares):
        mine = [head for tail, head in found if tail == f"b1.gpu{gpu}" and ".nic" in head]
        assert mine == [f"b1.nic{nic}"]


def test_rows_of_matrices_are_heads_and_columns_are_tails() -> None:
    """Two parallel links of 50 GB/s from GPU 0 to GPU 1, 1 us; 25 GB/s from 1 to 2, half a us."""
    topology = taccl(json.dumps(CUSTOM))
    assert topology.name == "three_1MB"
    assert links(topology) == {
        ("b0.gpu0", "b0.gpu1"): (100, 1),
        ("b0.gpu1", "b0.gpu2"): (25, Fraction(1, 2)),
        ("b0.gpu2", "b0.gpu0"): (100, 0),
    }


def test_boxes_of_matrices() -> None:
    remote = {"nics_per_node": 1, "remote_alpha": 0, "remote_beta": 100, "remote_invbw": 100}
    topology = taccl(json.dumps(CUSTOM), nnodes=2, **remote)
    assert topology.num_compute == 6
    assert links(topology)["b1.gpu0", "b1.gpu1"] == (100, 1)
    assert links(topology)["b1.gpu0", "b1.nic0"] == (10, 0)


def test_times_without_a_link_are_ignored() -> None:
    betas = [["none", 5, 10], [20, 0, 0], [0, 40, 0]]
    assert taccl(json.dumps(CUSTOM), betas=betas) == taccl(json.dumps(CUSTOM))


def test_a_box_without_nics_may_say_so_in_two_ways() -> None:
    without = {"nics_per_node": -1, "remote_alpha": -1, "remote_beta": -1, "remote_invbw": -1}
    assert taccl(DGX2, **without) == taccl(DGX2, **dict.fromkeys(without)) == taccl(DGX2)


@pytest.mark.parametrize(
    ("name", "chunk"),
    [("a_1KB", 1000), ("a_32KB", 32_000), ("2_1GB_16MB", 16 * 10**6), ("_2GB", 2 * 10**9)],
)
def test_the_name_ends_in_the_size_of_a_chunk(name: str, chunk: int) -> None:
    bandwidth = taccl(DGX2, name=name).links[0].bandwidth_gb_s
    assert bandwidth == Fraction(chunk, 1000)
    assert taccl(DGX2, name=name, chunk_bytes=chunk) == taccl(DGX2, name=name)


def test_chunk_bytes_wins_over_the_name() -> None:
    topology = taccl(DGX2, name="DGX2_1KB", chunk_bytes=1024)
    assert topology.name == "DGX2_1KB"
    assert topology.links[0].bandwidth_gb_s == Fraction(1024, 1000)
    assert taccl(DGX2, name="DGX2", chunk_bytes=1024).links == topology.links


def test_the_file_in_the_docs_is_two_boxes_of_ndv2() -> None:
    docs = Path(__file__).parents[3] / "docs"
    page = (docs / "formats" / "topologies-of-other-tools.md").read_text(encoding="utf-8")
    (block,) = (
        text for text in re.findall(r"```json\n(.*?)```", page, re.DOTALL) if "gpus_" in text
    )
    assert taccl(block) == taccl(NDV2, nnodes=2)


def test_other_files_are_not_taken_for_one(tmp_path: Path) -> None:
    for other in ("[]", "{}", '{"name": "gpus_per_node"}', '"gpus_per_node"'):
        assert not is_taccl(parse_json(other, "net.json"))
    assert is_taccl(parse_json(NDV2, "ndv2.json"))
    assert read(tmp_path, GOOD).name == "pair"


def test_yaml_will_do(tmp_path: Path) -> None:
    assert read(tmp_path, NDV2) == taccl(NDV2)  # JSON is YAML
    text = NDV2.replace("105", "0")
    assert fault(tmp_path, text).startswith(", line 10: remote_beta is 0; it must be a positive")


LINES = "links, betas, invbws"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": None}, "name is missing; add it (what to call the network, with _1MB)"),
        ({"alpha": None}, "alpha is missing; add it (us)"),
        ({"remote_alpha": None}, "remote_alpha is missing; add it (us from a NIC to another)"),
        ({"remote_beta": None}, "remote_beta is missing; add it (us that a chunk keeps a link"),
        ({"remote_invbw": None}, "remote_invbw is missing; add it (us of a chunk, latency and"),
        ({"node_betas_list": None}, "node_betas_list is missing; add it (1: GPUs on a switch; 2"),
        ({"node_betas_list": None}, f"for other boxes give {LINES} instead)"),
        ({"node_invbws_list": None}, "node_invbws_list is missing; add it (as many as in node_b"),
        ({"node_beta_list": [1]}, "node_beta_list is not a field of TACCL's; did you mean node_be"),
        ({"switches": 6}, "switches is not a field of TACCL's; the fields are name, gpus_per_node"),
        ({"name": 5}, "name is 5; write printable text, no spaces at the ends"),
        ({"name": ""}, "name is ''; write printable text"),
        ({"name": " a_1MB"}, "name is ' a_1MB'; write printable text"),
        ({"name": "a\n_1MB"}, "name is 'a\\n_1MB'; write printable text"),
        (
            {"name": "NDv2"},
            "name is 'NDv2', which does not say what size of chunk the times are of; end it with "
            "the size, such as _1MB or _32KB, or add chunk_bytes",
        ),
        ({"name": "NDv2_0MB"}, "name is 'NDv2_0MB', which does not say what size"),
        ({"name": "NDv2_1.5MB"}, "name is 'NDv2_1.5MB', which does not say what size"),
        ({"name": "NDv2_1MB_new"}, "name is 'NDv2_1MB_new', which does not say what size"),
        ({"chunk_bytes": 0}, "chunk_bytes is 0; it must be a whole number from 1 to 10000000000"),
        ({"chunk_bytes": "1.5"}, "chunk_bytes is '1.5'; it must be a whole number from 1"),
        ({"gpus_per_node": 0}, "gpus_per_node is 0; it must be a whole number from 1 to 100000 ("),
        ({"gpus_per_node": "8.5"}, "gpus_per_node is '8.5'; it must be a whole number"),
        (
            {"gpus_per_node": 16},
            "gpus_per_node is 16, but two entries of node_betas_list are an NDv2's, which has 8; "
            f"write 8, or give {LINES} instead",
        ),
        ({"alpha": -1}, "alpha is -1; it must be an exact number from 0, such as 0, 0.7 or 7/10"),
        ({"alpha": "small"}, "alpha is 'small'; it must be an exact number"),
        ({"node_betas_list": 23}, "node_betas_list is 23; it must be a list of 1 or 2 (1: GPUs"),
        ({"node_betas_list": []}, "node_betas_list is []; it must be a list of 1 or 2 (1: GPUs"),
        ({"node_betas_list": [1, 2, 3]}, "node_betas_list is [1, 2, 3]; it must be a list of 1 or"),
        ({"node_betas_list": [1]}, "node_invbws_list is [23, 46]; it must be a list of 1 (as many"),
        ({"node_invbws_list": [9]}, "node_invbws_list is [9]; it must be a list of 2 (as many as "),
        ({"node_betas_list": [0, 46]}, "node_betas_list[0] is 0; it must be a positive exact num"),
        ({"node_betas_list": [23, -4]}, "node_betas_list[1] is -4; it must be a positive exact"),
        ({"node_betas_list": [True, 4]}, "node_betas_list[0] is True; it must be a positive"),
        ({"node_invbws_list": [23, 0]}, "node_invbws_list[1] is 0; it must be a positive exact"),
        (
            {"node_invbws_list": [23, "45.5"]},
            "node_invbws_list[1] is 45.5, less than the beta of the same link, 46; it is the beta "
            "and the latency in one",
        ),
        ({"nics_per_node": 0}, "nics_per_node is 0; it must be a whole number from 1 to 8 (NICs"),
        ({"nics_per_node": 9}, "nics_per_node is 9; it must be a whole number from 1 to 8 (NICs"),
        ({"nics_per_node": -1}, "remote_alpha is given, but no NICs are; add nics_per_node or re"),
        ({"nics_per_node": None}, "remote_alpha is given, but no NICs are; add nics_per_node or"),
        ({"remote_alpha": -1}, "remote_alpha is -1; it must be an exact number from 0"),
        ({"remote_beta": 0}, "remote_beta is 0; it must be a positive exact number"),
        ({"remote_beta": 108}, "remote_invbw is 107, less than the beta of the same link, 108; it"),
        ({"nnodes": 0}, "nnodes is 0; it must be a whole number from 1 to 125000 (number of boxes"),
        ({"nnodes": 125_001}, "nnodes is 125001; it must be a whole number from 1 to 125000"),
        (
            {
                "nnodes": 2,
                **dict.fromkeys(("nics_per_node", "remote_alpha", "remote_beta", "remote_invbw")),
            },
            "nnodes is 2, but the boxes have no NICs to meet by; add nics_per_node, remote_alpha, "
            "remote_beta, remote_invbw, or write 1",
        ),
        ({"links": [[0]]}, f"node_betas_list is given, beside {LINES}; keep it or those three"),
        (
            {"node_betas_list": ["1e-99", 46]},
            "link b0.gpu0 -> b0.gpu1: bandwidth is about 1e+102, which no machine has",
        ),
    ],
)
def test_field_faults(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    assert message in fault(tmp_path, changed(NDV2, **changes), "topo.json")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"links": None}, "links is missing; add it (rows, one for each GPU that links lead to)"),
        ({"betas": None}, "betas is missing; add it (rows, one for each GPU that links lead to)"),
        ({"links": 3}, "links is 3; it must be a list of 3 (rows, one for each GPU that links le"),
        ({"betas": [[0], [0]]}, "betas is [[0], [0]]; it must be a list of 3 (rows, one for each"),
        ({"invbws": [1, 2, 3]}, "invbws[0] is 1; it must be a list of 3 (one for each GPU that"),
        (
            {"links": [[0, 0, 1], [2, 0], [0, 1, 0]]},
            "links[1] is [2, 0]; it must be a list of 3 (one for each GPU that links come from)",
        ),
        ({"gpus_per_node": 2}, "]; it must be a list of 2 (rows, one for each GPU that links lea"),
        (
            {"links": [[0, 0, 1], [-2, 0, 0], [0, 1, 0]]},
            "links[1][0] is -2; it must be a whole number from 0 to 100000 (parallel links; 0 for",
        ),
        (
            {"links": [[0, 0, 1], [2, 1, 0], [0, 1, 0]]},
            "links[1][1] is 1, from a GPU to itself; write 0",
        ),
        (
            {"links": [[0, 1, 1], [2, 0, 0], [0, 1, 0]]},
            "betas[0][1] is 0; it must be a positive exact number",
        ),
        (
            {"invbws": [[0, 0, 10], [19, 0, 0], [0, 40, 0]]},
            "invbws[1][0] is 19, less than the beta of the same link, 20; it is the beta and",
        ),
        ({"node_invbws_list": [1]}, f"node_invbws_list is given, beside {LINES}; keep it or those"),
        ({"nnodes": 2}, "nnodes is 2, but the boxes have no NICs to meet by; add nics_per_node"),
    ],
)
def test_matrix_faults(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    assert message in fault(tmp_path, changed(json.dumps(CUSTOM), **changes), "topo.json")
