"""A topology from one word."""

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import load_topology, write_topology
from forestcoll.topology.families.fabrics import complete, torus
from forestcoll.topology.families.machines import dgx_a100, mi250, paper_example


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("dgx_a100:boxes=4", dgx_a100(4)),
        ("dgx_a100:ib_switches=2,boxes=2,nics=nodes", dgx_a100(2, 2, "nodes")),
        ("mi250:boxes=2,gpus_per_box=8", mi250(2, gpus_per_box=8)),
        ("torus:dims=4x3", torus((4, 3))),
        ("torus:dims=6,wrap=false", torus((6,), wrap=False)),
        ("complete:nodes=5,bandwidth=12.5", complete(5, "25/2")),
        ("complete: nodes = 5, bandwidth = 25/2", complete(5, "12.5")),
        ("paper_example", paper_example()),
    ],
)
def test_a_specification_is_the_call_it_spells(spec, expected):
    assert load_topology(spec) == expected


def test_a_path_is_read(tmp_path):
    path = tmp_path / "cluster.json"
    write_topology(mi250(1), path)
    assert load_topology(str(path)) == mi250(1)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("dgx_a10:boxes=4", "neither a file nor a topology family; did you mean dgx_a100?"),
        ("nothing like it", "the families are dgx_a100, dgx_h100"),
        ("", "neither a file nor a topology family"),
        ("x" * 5000, "neither a file nor a topology family"),
        ("dgx_a100", "needs boxes (number of boxes), a whole number from 1"),
        ("dgx_a100:box=4", "has no parameter 'box'; did you mean boxes?"),
        ("dgx_a100:colour=4", "it takes boxes, ib_switches, nics"),
        ("dgx_a100:boxes", "'boxes' is not parameter=value"),
        ("dgx_a100:boxes=2,", "'' is not parameter=value"),
        ("dgx_a100:boxes=1,boxes=2", "boxes is given twice"),
        ("dgx_a100:boxes=0", "boxes is '0'; it must be a whole number from 1"),
        ("dgx_a100:boxes=4.0", "boxes is '4.0'; it must be a whole number"),
        ("dgx_a100:boxes=-1", "boxes is '-1'"),
        ("dgx_a100:boxes=99999999999999", "boxes is '99999999999999'"),
        ("dgx_a100:boxes=2,ib_switches=3", "ib_switches is '3'; it must be 1 or 2"),
        ("dgx_a100:boxes=2,nics=node", "nics is 'node'; it must be implicit or nodes"),
        ("torus:dims=4x", "dims is '4x'; it must be whole numbers from 1 joined by x"),
        ("torus:dims=4x0", "dims is '4x0'"),
        ("torus:dims=9999x9999", "of at most 1000000 nodes"),
        ("ring:nodes=3,bidirectional=maybe", "bidirectional is 'maybe'; it must be true or false"),
        ("ring:nodes=3,bandwidth=fast", "bandwidth is 'fast'; it must be a positive exact number"),
        ("ring:nodes=3,bandwidth=0", "bandwidth is '0'"),
        ("ring:nodes=3,bandwidth=1e999999999", "bandwidth is '1e999999999'"),
        ("hypercube:dimension=40", "it must be a whole number from 1 to 16"),
    ],
)
def test_a_bad_specification_is_reported_in_one_line(spec, message):
    with pytest.raises(InvalidTopologyError) as caught:
        load_topology(spec)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


def test_missing_files_and_directories_are_reported(tmp_path):
    with pytest.raises(InvalidTopologyError, match="cannot be read: no such file"):
        load_topology(str(tmp_path / "none.yaml"))
    with pytest.raises(InvalidTopologyError, match="is a directory"):
        load_topology(str(tmp_path))
    (tmp_path / "cluster.txt").touch()
    with pytest.raises(InvalidTopologyError, match=r"the suffix '\.txt'; a topology file ends in"):
        load_topology(str(tmp_path / "cluster.txt"))


def test_a_list_of_true_and_false_goes_on_after_a_comma():
    """With parentheses or without; another word is still no parameter."""
    bare = load_topology("torus:dims=3x3,wrap=true,false,bandwidth=2")
    assert bare == load_topology("torus:dims=3x3,wrap=(true,false),bandwidth=2")
    assert load_topology(bare.name) == bare
    with pytest.raises(InvalidTopologyError, match="'maybe' is not parameter=value"):
        load_topology("torus:dims=3x3,wrap=true,maybe")
    with pytest.raises(InvalidTopologyError, match="'true' is not parameter=value"):
        load_topology("torus:true,dims=3x3")
    with pytest.raises(InvalidTopologyError, match="ring: nodes is '4,true'; it must be"):
        load_topology("ring:nodes=4,true")
