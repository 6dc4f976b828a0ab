"""Options that change a network before a command looks at it."""

from fractions import Fraction
from pathlib import Path

import pytest

from forestcoll.topology import load_topology, read_topology
from tests.command_line import assert_refused, by_the_script, document, invoke

BOXES = "dgx_a100:boxes=2"
DEAD = ["--without", "b1.gpu2 - ib"]


def test_every_command_on_networks_takes_changes(tmp_path: Path) -> None:
    """The GPU without a NIC gets all 15 shards by NVLink: 300 GB/s x 16 / 15."""
    damaged = load_topology(BOXES).without("b1.gpu2 - ib")
    path, proof = tmp_path / "schedule.npz", tmp_path / "proof.json"
    assert document("topology", "show", BOXES, *DEAD)["links"] == len(damaged.links)
    document("topology", "export", BOXES, *DEAD, "-o", tmp_path / "net.yaml")
    assert read_topology(tmp_path / "net.yaml") == damaged
    picture = tmp_path / "net.png"
    assert document("topology", "draw", BOXES, *DEAD, "-o", picture)["topology"] == damaged.name
    best = document("optimum", BOXES, *DEAD)["algbw_gb_s"]
    assert best["exact"] == "320"
    assert document("generate", BOXES, *DEAD, "-o", path)["algbw_gb_s"] == best
    assert document("certificate", BOXES, *DEAD, "-o", proof)["algbw_gb_s"] == best
    assert document("verify", path, "--topology", BOXES, *DEAD)["verified"] is True
    assert invoke("verify", path, "--topology", BOXES).exit_code == 1
    assert document("baselines", "run", "ring", BOXES, *DEAD)["topology"] == damaged.name
    assert document("allreduce-optimum", BOXES, *DEAD)["topology"] == damaged.name
    assert document("groups", BOXES, *DEAD, "--by", "box")["topology"] == damaged.name


def test_bandwidths_are_scaled_and_links_added() -> None:
    """Whole: 15 shards into each GPU at 325 GB/s; then 8 into a box at 100, or 15 at 350."""
    for options, inverse_rate in (
        ([], "3/65"),
        (["--scale", "* - ib=1/2"], "2/25"),
        (["--with", "b*.gpu* - ib=200 Gb/s"], "3/70"),
        (["--with", "b*.gpu* - ib=25", "--scale", "* - ib=1/2"], "3/65"),
    ):
        assert document("optimum", BOXES, *options)["inverse_rate"]["exact"] == inverse_rate


@pytest.mark.parametrize(
    ("network", "dead", "options", "algbw"),
    [
        # 775 GB/s enter ib, 24 shards of 32 must leave it for each of four boxes.
        ("dgx_a100:boxes=4", "b0.gpu0 -> ib", (), Fraction(32 * 775, 96)),
        # Box 0 need not send.
        (
            "dgx_a100:boxes=2",
            "b0.gpu0 -> ib",
            ("--collective", "broadcast", "--root", "b1.gpu0"),
            200,
        ),
        # The GPU's 15 shards come by NVLink, 300, and what ib has left of 375 for 16 GPUs.
        (BOXES, "b1.gpu2 -> ib", (), 345),
        (BOXES, "ib -> b1.gpu2", ("--collective", "reduce-scatter"), 345),
    ],
)
def test_a_link_dead_one_way_is_used_the_other_way(
    network: str, dead: str, options: tuple[str, ...], algbw: Fraction, tmp_path: Path
) -> None:
    """The optimum is of the network that was named; schedule and certificate say the same."""
    path, proof = tmp_path / "schedule.json", tmp_path / "proof.json"
    asked = [network, "--without", dead, *options]
    found = document("optimum", *asked)
    assert Fraction(found["algbw_gb_s"]["exact"]) == algbw
    document("generate", *asked, "-o", path)
    assert document("verify", path)["optimal"] is True
    document("certificate", *asked, "-o", proof)
    assert document("verify", proof)["optimal"] is True
    assert by_the_script(proof).returncode == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--without", "b9.gpu0"], "'b9.gpu0' is not a node of dgx_a100:boxes=2"),
        (["--scale", "b0.gpu0"], "--scale has 'b0.gpu0'; write PART=FACTOR"),
        (["--scale", "b0.gpu0=x"], "the factor is 'x', which is not a number"),
        (["--with", "b0.gpu0=5"], "names no two nodes"),
        (["--scale", "*=2", "--scale", "* =3"], "--scale names '*' twice; give it once"),
    ],
)
def test_changes_that_cannot_be_are_reported_in_one_line(options: list[str], message: str) -> None:
    assert_refused(message, "optimum", BOXES, *options)


def test_changes_of_no_network_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "schedule.npz"
    invoke("generate", "ring:nodes=3", "-o", path)
    assert_refused("are of a --topology", "verify", path, "--without", "gpu0")


def test_a_file_with_links_of_unlike_speeds_is_taken(tmp_path: Path) -> None:
    """Two shards must enter g1 over 10 GB/s: 15 GB/s, though s receives 20 and may send 30 GB/s.

    So it stays where g2 has 5 GB/s to s.
    """
    path = tmp_path / "cluster.yaml"
    lines = ["name: three", "nodes:", "  - {name: s, kind: switch}"]
    lines += [f"  - {{name: g{i}, kind: compute}}" for i in range(3)]
    lines += ["links:", "  - {from: s, to: g2, bandwidth_gb_s: 10}"]
    whole = [f"  - {{from: g{i}, to: s, bandwidth_gb_s: 10, both: true}}" for i in range(2)]
    direct = ["  - {from: g2, to: g0, bandwidth_gb_s: 5, both: true}"]
    path.write_text("\n".join(lines + whole + direct) + "\n")
    made = invoke("optimum", path)
    assert (made.exit_code, made.stderr) == (0, "")
    assert document("optimum", path)["algbw_gb_s"]["exact"] == "15"
    slower = ["  - {from: g2, to: s, bandwidth_gb_s: 5}"]
    path.write_text("\n".join(lines + whole + direct + slower) + "\n")
    slow = document("optimum", path)
    assert slow["algbw_gb_s"]["exact"] == "15"
    assert "GPU g1" in slow["what_binds"][0]
