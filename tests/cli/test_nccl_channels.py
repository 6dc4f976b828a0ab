"""``forestcoll topology channels``."""

from pathlib import Path

from tests.command_line import assert_refused, document, invoke
from tests.topology.importers.small_files import GRAPHS, LOG


def test_channels_are_printed(tmp_path: Path) -> None:
    log = tmp_path / "nccl.log"
    log.write_text(LOG, encoding="utf-8")
    assert invoke("topology", "channels", log).stdout.splitlines() == [
        "ring 0: 0 1 2",
        "ring 1: 0 2 1",
        "tree 0: 0 0>1 1>2",
        "tree 1: 2>0 1 1>2",
        "NICs: mlx5_0:1, mlx5_1:1",
        "NVLS channels: 16",
    ]
    found = document("topology", "channels", log)
    assert found["trees"][1] == {"channel": 1, "parents": {"0": 2, "1": None, "2": 1}, "nics": []}


def test_the_channels_of_a_graph_file_have_nics(tmp_path: Path) -> None:
    graph = tmp_path / "graph.xml"
    graph.write_text(GRAPHS, encoding="utf-8")
    found = document("topology", "channels", graph)
    assert found["gpus"] == "device"
    assert found["rings"][0] == {"channel": 0, "gpus": [0, 1, 2], "nics": ["0", "1"]}
    assert_refused("no network; print them with", "topology", "import", graph,
                   "-o", tmp_path / "a.yaml")  # fmt: skip
