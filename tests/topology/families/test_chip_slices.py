"""Slices of chips, counted by hand."""

from fractions import Fraction

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import load_topology


@pytest.mark.parametrize(
    ("spec", "chips", "cables"),
    [
        ("tpu_v4:dims=4x4x4", 64, 3 * 64),  # a cube is a torus
        ("tpu_v5p:dims=4x4x8", 128, 3 * 128),
        ("tpu_v5p:dims=2x2x1", 4, 4),  # less is a mesh
        ("tpu_v5p:dims=2x4x4", 32, 16 + 2 * 24),
        ("tpu_v5p:dims=2x4x4,wrap=true", 32, 16 + 2 * 32),
        ("tpu_v5e:dims=4x4", 16, 2 * 12),
        ("tpu_v6e:dims=8x16", 128, 7 * 16 + 8 * 16),  # only the side of 16 is closed
        ("tpu_v6e:dims=16x16", 256, 2 * 256),
        ("tpu_v6e:dims=8x8,wrap=true,false", 64, 8 * 8 + 7 * 8),
    ],
)
def test_complete_slices_have_closed_rings(spec, chips, cables):
    topology = load_topology(spec)
    assert topology.name == spec
    assert (topology.num_compute, topology.switches, len(topology.links)) == (chips, (), 2 * cables)


def test_bandwidths_of_a_chip():
    """Both ways: 600 GB/s of a v4's six links, 1200, 400 and 800 as Google prints."""
    for spec, both in (
        ("tpu_v4:dims=4x4x4", 600),
        ("tpu_v5p:dims=4x4x4", 1200),
        ("tpu_v5e:dims=16x16", 400),
        ("tpu_v6e:dims=16x16", 800),
    ):
        topology = load_topology(spec)
        assert {2 * topology.ingress_gb_s[v] for v in topology.compute} == {Fraction(both)}


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("tpu_v5p:dims=4x4", "it must have 3 dimensions, such as 4x4x4"),
        ("tpu_v6e:dims=4x4x4", "it must have 2 dimensions, such as 4x4"),
        ("tpu_v5e:dims=32x8", "a pod has 16x16 chips"),
        ("tpu_v5e:dims=8x8,wrap=true,true,false", "wrap is for 3 dimensions and dims for 2"),
    ],
)
def test_slices_that_do_not_exist(spec, says):
    with pytest.raises(InvalidTopologyError, match=says):
        load_topology(spec)


def test_trainium2():
    """16 chips with four links of 128 GB/s; of an UltraServer two of 64 more; 25 of EFA."""
    one = load_topology("trn2")
    assert (one.num_compute, len(one.links)) == (16, 2 * 32)
    assert {one.ingress_gb_s[v] for v in one.compute} == {Fraction(512)}
    four = load_topology("trn2_ultraserver")
    assert (four.num_compute, len(four.links)) == (64, 2 * (4 * 32 + 4 * 16))
    assert {four.ingress_gb_s[v] for v in four.compute} == {Fraction(512 + 128)}
    joined = load_topology("trn2:boxes=2,bandwidth=100")
    assert {joined.ingress_gb_s[v] for v in joined.compute} == {Fraction(400 + 25)}
    assert load_topology("trn2_ultraserver:servers=2").num_compute == 128
