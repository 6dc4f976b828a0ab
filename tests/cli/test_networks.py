"""Commands on networks: listed, shown, written, drawn."""

from pathlib import Path

import pytest

from forestcoll.topology import FAMILIES, load_topology, read_topology, write_topology
from tests.command_line import assert_refused, document, invoke


def test_list_names_every_family_and_its_parameters() -> None:
    """The same in text and in JSON."""
    listed = document("topology", "list")
    assert [family["name"] for family in listed] == list(FAMILIES)
    boxes = listed[0]["parameters"][0]
    assert (boxes["name"], boxes["required"], boxes["default"]) == ("boxes", True, None)
    text = invoke("topology", "list").stdout
    assert "    boxes                  number of boxes;" in text
    assert "    nics=implicit          NICs as a GPU's link" in text
    assert max(len(line) for line in text.splitlines() if line.startswith("    ")) <= 80
    assert all(family["summary"] in text for family in listed)


def test_show_counts_nodes_and_gathers_links() -> None:
    """Two A100 boxes: 16 GPUs with 300 + 25 GB/s in, 2 NVSwitches and InfiniBand, 64 links."""
    shown = document("topology", "show", "dgx_a100:boxes=2")
    assert (shown["gpus"], shown["switches"], shown["boxes"], shown["links"]) == (16, 3, 2, 64)
    assert shown["least_gpu_ingress_gb_s"] == {"exact": "325", "value": 325.0}
    assert [each["count"] for each in shown["link_classes"]] == [16, 16, 16, 16]
    assert "greatest GPU ingress  325 GB/s" in invoke("topology", "show", "dgx_a100:boxes=2").stdout


def test_show_names_shared_capacities(tmp_path: Path) -> None:
    """A ring whose first wire is half-duplex; scaled by its name, and left out."""
    path = tmp_path / "wire.yaml"
    write_topology(load_topology("ring:nodes=4").with_shared("wire", "gpu0 - gpu1", 1), path)
    shown = document("topology", "show", path)
    assert shown["shared_capacities"] == [
        {
            "name": "wire",
            "count": 2,
            "bandwidth_gb_s": {"exact": "1", "value": 1.0},
            "tails": "GPUs gpu0 and gpu1",
            "heads": "GPUs gpu0 and gpu1",
        }
    ]
    text = invoke("topology", "show", path, "--scale", "wire=1/2").stdout
    assert "shared capacities     wire: 0.5 GB/s shared by 2 links among GPUs gpu0" in text
    assert (
        "shared capacities     none" in invoke("topology", "show", path, "--without", "wire").stdout
    )


@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_an_exported_topology_is_the_topology(suffix: str, tmp_path: Path) -> None:
    """Export, read: equal; and the file stands where a family may."""
    path = tmp_path / f"cluster.{suffix}"
    assert document("topology", "export", "mi250:boxes=2", "-o", path)["file"] == str(path)
    assert read_topology(path) == load_topology("mi250:boxes=2")
    assert document("optimum", path)["inverse_rate"]["exact"] == "15/166"


def test_draw_writes_a_picture_of_the_network_and_its_cut(tmp_path: Path) -> None:
    """The cut in JSON is that of `optimum`."""
    path = tmp_path / "example.png"
    drawn = document("topology", "draw", "paper_example", "--cut", "-o", path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert drawn["cut"] == document("optimum", "paper_example")["bottleneck_cut"]


def test_one_family_can_be_listed_by_itself() -> None:
    """By its name or a specification; in JSON a list of one."""
    for name in ("torus", "torus:dims=4x4"):
        text = invoke("topology", "list", name).stdout
        assert "wrap" in text
        assert "dgx_a100" not in text
    (family,) = document("topology", "list", "torus")
    assert family["name"] == "torus"
    assert_refused(
        "'tours' is not a family of topologies; did you mean torus?", "topology", "list", "tours"
    )


def test_a_network_is_exported_for_other_tools_and_imported(tmp_path: Path) -> None:
    """By the ending, or by the name of a format."""
    for ending in ("graphml", "dot"):
        path, made = tmp_path / f"net.{ending}", tmp_path / f"{ending}.yaml"
        document("topology", "export", "mi250:boxes=1", "-o", path)
        document("topology", "import", path, "-o", made)
        assert read_topology(made) == load_topology("mi250:boxes=1")
    ring = tmp_path / "ring.yml"
    document("topology", "export", "ring:nodes=4", "--format", "astra-sim", "-o", ring)
    assert ring.read_text(encoding="utf-8").startswith("topology: [ Ring ]\n")
    box = tmp_path / "box.xml"
    options = ("--gpu", "h100", "--rates", "nominal")
    document("topology", "export", "dgx_h100:boxes=1", "-o", box, *options)
    assert 'count="18"' in box.read_text(encoding="utf-8")
    assert_refused("give it and its rate", "topology", "export", "dgx_h100:boxes=1", "-o", box)
    assert_refused("is that of no format", "topology", "export", "ring:nodes=4",
                   "-o", tmp_path / "a.txt")  # fmt: skip
