"""The matrix of nvidia-smi topo -m, with tabs or spaces, colours and legend."""

import re

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.machines.nvidia_matrix import nvidia_matrix
from tests.topology.importers.small_files import TOPO_DIRECT, TOPO_SWITCHED


def test_links_and_nearness_of_a_machine_wired_directly() -> None:
    """Names of NICs are in the header; the header is underlined by the terminal."""
    found = nvidia_matrix(TOPO_DIRECT, "f", "m")
    assert found.gpus == ("gpu0", "gpu1", "gpu2", "gpu3")
    assert found.nics == ("mlx5_0", "mlx5_1")
    assert found.nvlinks == {(0, 1): 2, (0, 2): 1, (1, 3): 1, (2, 3): 2}
    assert found.near == ((0, 0, 4, 4), (4, 4, 2, 2))


def test_the_legend_names_nics() -> None:
    found = nvidia_matrix(TOPO_SWITCHED, "f", "m")
    assert found.nics == ("mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3")
    assert set(found.nvlinks.values()) == {18}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("GPU1    NV2      X", "GPU1    NV3      X", "line 3: GPU0 and GPU1 count 2 and 3 NVLinks"),
        ("GPU1    NV2", "GPU1    XYZ", "unknown connection 'XYZ' between GPU0 and GPU1"),
        ("mlx5_0  PIX", "mlx5_0  NV2", "unknown connection 'NV2' between mlx5_0 and GPU0"),
        ("GPU3    SYS", "GPU9    SYS", "line 1: no row for GPU3; the file may be cut off"),
        ("mlx5_1  CPU", "mlx5_0  CPU", "line 1: 'mlx5_0' is not a device, or is there twice"),
        ("     X      SYS\n", "\n", "line 6: mlx5_0 has 4 connections to 6 devices"),
        ("GPU0    GPU1", "NVLINK", "f: has no header of GPUs"),
    ],
)
def test_wrong_matrices_are_refused(old: str, new: str, message: str) -> None:
    assert old in TOPO_DIRECT
    with pytest.raises(InvalidTopologyError, match=re.escape(message)):
        nvidia_matrix(TOPO_DIRECT.replace(old, new), "f", "m")


def test_two_nics_of_one_name_are_refused() -> None:
    with pytest.raises(InvalidTopologyError, match="gives two NICs one name"):
        nvidia_matrix(TOPO_SWITCHED.replace("NIC1: mlx5_1", "NIC1: mlx5_0"), "f", "m")
