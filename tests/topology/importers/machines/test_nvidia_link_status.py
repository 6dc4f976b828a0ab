"""The list of nvidia-smi nvlink --status."""

from fractions import Fraction

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.machines.nvidia_link_status import nvidia_links
from tests.topology.importers.small_files import NVLINKS


def test_links_of_each_gpu_with_the_rate_of_the_line() -> None:
    found = nvidia_links(NVLINKS, "f", "m")
    assert found.kind == "sm_90"
    assert found.rates_gb_s["gpu3"] == (Fraction("26.562"),) * 18
    assert found.notes == ()


def test_links_that_are_down_are_noted() -> None:
    text = "GPU 0: Some GPU\n\tLink 0: 25 GB/s\n\tLink 1: <inactive>\nGPU 1: Some GPU\nNVML: none\n"
    found = nvidia_links(text, "f", "m")
    assert found.kind is None
    assert found.rates_gb_s == {"gpu0": (Fraction(25),), "gpu1": ()}
    assert found.notes == ("NVLinks that are down: gpu0 1.",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f: lists no GPU"),
        ("Link 0: 25 GB/s", "line 1: link 0 is listed twice or before any GPU"),
        ("GPU 0: a\nLink 0: 25 GB/s\nLink 0: 25 GB/s", "line 3: link 0 is listed twice"),
        ("GPU 0: a\nGPU 0: a", "line 2: gpu0 is listed twice"),
        ("GPU 0: a\nLink 0: 25 furlongs", "line 2: '.*' is neither a GPU nor a link"),
    ],
)
def test_wrong_lists_are_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidTopologyError, match=message):
        nvidia_links(text, "f", "m")
