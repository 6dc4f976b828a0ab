"""Direct NVLinks, or NVSwitches: decided by the counts, or refused."""

import re
from fractions import Fraction

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.host import Host
from forestcoll.topology.importers.link_rates import rate_table
from forestcoll.topology.importers.machines.nvidia_link_status import nvidia_links
from forestcoll.topology.importers.machines.nvidia_machine import nvidia_host
from forestcoll.topology.importers.machines.nvidia_matrix import nvidia_matrix
from forestcoll.topology.importers.supplied import Supplied
from tests.topology.importers.small_files import NVLINKS, TOPO_DIRECT, TOPO_SWITCHED, matrix

NOMINAL = rate_table("nominal")


def host(text: str, gpu: str | None = None, links: str = "", rates: bool = True) -> Host:
    given = Supplied(NOMINAL if rates else None, gpu, Fraction(50))
    status = nvidia_links(links, "l", "m") if links else None
    return nvidia_host(nvidia_matrix(text, "t", "m"), status, given)


def out_of_gpu0(found: Host) -> Fraction:
    return sum((one.bandwidth_gb_s for one in found.links if one.tail == "gpu0"), Fraction(0))


def test_a_machine_wired_directly() -> None:
    """GPU 0 of V100s has 2 + 1 links of 25 GB/s; each NIC is near two GPUs."""
    found = host(TOPO_DIRECT, "sm_70")
    assert found.switches == ()
    assert len(found.links) == 8
    assert out_of_gpu0(found) == 75
    assert [nic.nodes for nic in found.nics] == [("gpu0", "gpu1"), ("gpu2", "gpu3")]
    assert [nic.bandwidth_gb_s for nic in found.nics] == [50, 50]


def test_nvswitches_share_the_links_among_all_pairs() -> None:
    """Four H100s count 18 links each to three others: 54 would be needed, and 18 are there."""
    found = host(TOPO_SWITCHED, "sm_90")
    assert [switch.multicast for switch in found.switches] == [True]
    assert out_of_gpu0(found) == 450
    assert [nic.nodes for nic in found.nics] == [(f"gpu{i}",) for i in range(4)]
    assert not host(matrix("NV12", 8), "sm_80").switches[0].multicast


def test_fewer_links_than_the_kind_has_are_noted() -> None:
    """NV12 on every pair of an H100 is more likely an A100."""
    found = host(matrix("NV12", 8), "sm_90")
    assert out_of_gpu0(found) == 300
    assert found.notes[0] == (
        "GPUs count 12 NVLinks of the 18 that sm_90 has: check --gpu, unless the others are down."
    )
    assert len(host(matrix("NV12", 8), "sm_80").notes) == 1


def test_an_a100_board_of_four_is_wired_directly() -> None:
    """NV4 with three others are the 12 links of an A100."""
    found = host(matrix("NV4", 4), "sm_80")
    assert found.switches == ()
    assert out_of_gpu0(found) == 300


def test_two_gpus_of_a_virtual_machine_have_all_links_to_each_other() -> None:
    found = host(matrix("NV18", 2), "sm_90")
    assert found.switches == ()
    assert out_of_gpu0(found) == 450


def test_the_status_gives_kind_and_rate() -> None:
    assert out_of_gpu0(host(TOPO_SWITCHED, links=NVLINKS)) == 450
    measured = host(TOPO_SWITCHED, links=NVLINKS, rates=False)
    assert out_of_gpu0(measured) == 18 * Fraction("26.562")
    assert any("rate of the line" in note for note in measured.notes)


def test_a_gpu_with_links_down_counts_fewer() -> None:
    """GPU 0 has 16 of its links up, and every pair with it counts 16."""
    first, rest = NVLINKS.split("GPU 1:")
    first = first.replace("Link 16: 26.562 GB/s", "Link 16: <inactive>")
    links = first.replace("Link 17: 26.562 GB/s", "Link 17: <inactive>") + "GPU 1:" + rest
    rows = TOPO_SWITCHED.split("\n")
    text = "\n".join(
        row.replace("NV18", "NV16", 3 if i == 1 else 1) if 1 <= i <= 4 else row
        for i, row in enumerate(rows)
    )
    found = host(text, links=links)
    assert out_of_gpu0(found) == 400
    assert found.notes[0] == "NVLinks that are down: gpu0 2."
    with pytest.raises(InvalidTopologyError, match="fits neither direct links nor NVSwitches"):
        host(text, "sm_90")


def test_links_to_elsewhere_are_noted() -> None:
    """The pair counts 6 of 18 links."""
    found = host(matrix("NV6", 2), links=NVLINKS)
    assert out_of_gpu0(found) == 150
    assert "Some NVLinks lead to none of the GPUs; they are left out." in found.notes


@pytest.mark.parametrize(
    ("text", "gpu", "links", "message"),
    [
        (matrix("SYS", 2), "sm_90", "", "t: has no NVLinks, and no speeds of PCIe links; give a"),
        (TOPO_SWITCHED, None, "", "t: does not have the kind of its GPUs; give it, such as --gpu"),
        (TOPO_DIRECT, "sm_60", "GPU 0: P100\n", "l: does not list gpu1, which t has"),
        (TOPO_SWITCHED, None, NVLINKS.replace("H100", "X1"), "the model of gpu0 is not known"),
        (
            TOPO_DIRECT.replace("NV1", "SYS"),
            "sm_70",
            "",
            "t: gpu0 and gpu2 meet by PCIe only, whose speeds the file does not have; give a dump",
        ),
        (matrix("NV20", 8), "sm_90", "", "a GPU counts 140 NVLinks in all and has 18"),
        (matrix("NV12", 4), None, NVLINKS, "a GPU counts 36 NVLinks in all and has 18"),
        (
            TOPO_SWITCHED,
            None,
            NVLINKS.replace("Link 17: 26.562 GB/s", "Link 17: <inactive>", 1),
            "its pairs count 18 each, which are not the links that are up; the file fits neither",
        ),
    ],
)
def test_dumps_with_undetermined_links_are_refused(
    text: str, gpu: str | None, links: str, message: str
) -> None:
    with pytest.raises(InvalidTopologyError, match=re.escape(message)):
        host(text, gpu, links)


def test_without_status_a_table_of_rates_is_needed() -> None:
    with pytest.raises(InvalidTopologyError, match="choose --rates nominal"):
        host(TOPO_DIRECT, "sm_70", rates=False)
