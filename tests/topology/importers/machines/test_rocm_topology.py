"""Tables of rocm-smi --showtopo."""

import re

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.link_rates import rate_table
from forestcoll.topology.importers.machines.rocm_topology import host_from_rocm
from forestcoll.topology.importers.supplied import Supplied
from tests.topology.importers.small_files import ROCM, ROCM_WIDTHS

NOMINAL = rate_table("nominal")


def test_pairs_of_one_hop_have_one_link_of_the_table() -> None:
    """GPUs 0 and 2 are two hops apart."""
    found = host_from_rocm(ROCM, "f", "m", Supplied(NOMINAL, "gfx942"))
    links = {(link.tail, link.head): link.bandwidth_gb_s for link in found.links}
    ends = [("gpu0", "gpu1"), ("gpu1", "gpu0"), ("gpu1", "gpu2"), ("gpu2", "gpu1")]
    assert links == dict.fromkeys(ends, 64)


def test_the_version_in_the_file_names_the_kind() -> None:
    text = "".join(f"GPU[{i}]\t\t: GFX Version: \t\tgfx942\n" for i in range(3)) + ROCM
    assert host_from_rocm(text, "f", "m", Supplied(NOMINAL)).links[0].bandwidth_gb_s == 64


def test_bandwidths_of_the_file_count_parallel_links() -> None:
    """50 to 200 GB/s are 4 links of an MI250; the runtime counts 36 GB/s for each."""
    found = host_from_rocm(ROCM_WIDTHS, "f", "m", Supplied())
    assert [link.bandwidth_gb_s for link in found.links] == [200, 200, 50, 50]
    assert "greatest bandwidth" in found.notes[1]
    counted = host_from_rocm(ROCM_WIDTHS, "f", "m", Supplied(rate_table("runtime"), "gfx90a"))
    assert [link.bandwidth_gb_s for link in counted.links] == [144, 144, 36, 36]


def test_bandwidths_decide_which_pairs_are_linked() -> None:
    """Some releases print one hop for all pairs, and some 0-0 for all bandwidths."""
    one_hop = ROCM_WIDTHS.replace("0  1  2", "0  1  1").replace("2  1  0", "1  1  0")
    found = host_from_rocm(one_hop, "f", "m", Supplied())
    assert len(found.links) == 4
    zero = ROCM_WIDTHS.replace("50000-200000", "0-0").replace("50000-50000", "0-0")
    plain = host_from_rocm(zero, "f", "m", Supplied(NOMINAL, "gfx942"))
    assert [link.bandwidth_gb_s for link in plain.links] == [64] * 4


@pytest.mark.parametrize(
    ("text", "gpu", "message"),
    [
        (ROCM, "gfx90a", "pairs of gfx90a have 1 to 4 links, which it does not count"),
        (ROCM, None, "f: does not have the kind of its GPUs"),
        (ROCM.replace("XGMI", "PCIE"), "gfx942", "f: has no xGMI links, and no speeds of PCIe"),
        (ROCM.replace("Hops between", "Ways between"), "gfx942", "has no table 'hops between two"),
        (ROCM.replace("GPU2   XGMI XGMI 0\n", ""), "gfx942", "lacks rows; the file may be cut off"),
        (ROCM.replace("XGMI 0 XGMI", "PCIE 0 XGMI"), "gfx942", "GPU0 and GPU1 have 'XGMI' and"),
        (ROCM.replace("GPU1   1  0  1", "GPU1   1  0"), "gfx942", "GPU1 has 2 entries for 3 GPUs"),
        (ROCM_WIDTHS.replace("50000-200000", "9-0"), "gfx942", "GPU0 and GPU1 have no bandwidth"),
        (ROCM.replace("Link Type", "Kind"), "gfx942", "has no table 'link type between two"),
        (
            ROCM.replace("GPU1   1  0  1", "GPU7   1  0  1"),
            "gfx942",
            "the tables are of different GPUs",
        ),
    ],
)
def test_wrong_or_unclear_tables_are_refused(text: str, gpu: str | None, message: str) -> None:
    with pytest.raises(InvalidTopologyError, match=re.escape(message)):
        host_from_rocm(text, "f", "m", Supplied(NOMINAL, gpu))
