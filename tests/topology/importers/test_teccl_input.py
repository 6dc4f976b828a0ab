"""Inputs of TE-CCL: which machine they name, and how faulty ones are refused."""

import json
from fractions import Fraction

import pytest

from forestcoll.topology import load_topology
from forestcoll.topology.importers.teccl_input import is_teccl, topology_from_teccl
from forestcoll.topology.reading.documents import parse_json
from tests.topology.texts import GOOD, fault, read

WHOLE = """\
{
    "TopologyParams": {"name": "NDv2", "option": 1, "chassis": 2, "chunk_size": 0.0625},
    "GurobiParams": {"time_limit": 2, "mip_gap": 1e-4},
    "InstanceParams": {"collective": 1, "num_chunks": 1, "epoch_type": 2, "switch_copy": true}
}
"""


def text(**params: object) -> str:
    return json.dumps({"TopologyParams": params})


def test_a_whole_input_of_theirs(tmp_path):
    """Parts about the solver and the collective are passed over."""
    path = tmp_path / "ndv2.json"
    path.write_text(WHOLE, encoding="utf-8")
    assert load_topology(str(path)) == load_topology("ndv2:chassis=2,between=direct")


@pytest.mark.parametrize(
    ("params", "spec"),
    [
        ({"name": "DGX1"}, "dgx1:nvlink_latency=0"),
        ({"name": "DGX1", "chassis": 1, "alpha": [7e-7, 0]}, "dgx1"),
        ({"name": "NDv2"}, "ndv2:chassis=1"),
        ({"name": "NDv2", "chassis": 4}, "ndv2:chassis=4"),
        ({"name": "DGX2"}, "dgx2:chassis=2"),
        ({"name": "DGX2", "chassis": 2, "option": 1}, "dgx2:chassis=2"),
        ({"name": "AMD"}, "mi250_teccl:chassis=1,xgmi_latency=0,switch_latency=0"),
        ({"name": "AMD", "chassis": 2, "alpha": [6e-7, 7.5e-7]}, "mi250_teccl:chassis=2"),
    ],
)
def test_machines_and_the_families_they_are(tmp_path, params, spec):
    """Left out: one chassis, two for DGX2; latencies of 0. Those given are in seconds."""
    assert read(tmp_path, text(**params), "input.json") == load_topology(spec)


def test_latencies_are_exact():
    """1.1e-6 s are 1.1 us, not what is next to it in binary."""
    document = parse_json('{"TopologyParams": {"name": "DGX1", "alpha": [1.1e-6, 0]}}', "dgx1.json")
    assert {link.latency_us for link in topology_from_teccl(document).links} == {Fraction(11, 10)}


def test_other_files_are_not_taken_for_one(tmp_path):
    for other in ("[]", "{}", '{"name": "TopologyParams"}', '"TopologyParams"'):
        assert not is_teccl(parse_json(other, "net.json"))
    assert is_teccl(parse_json(WHOLE, "ndv2.json"))
    assert read(tmp_path, GOOD).name == "pair"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "name is missing; write one of DGX1, DGX2, NDv2, AMD, Mesh"),
        ({"name": "NDV2"}, "name is 'NDV2', no machine of TE-CCL's; did you mean NDv2?"),
        ({"name": "Torus"}, "name is 'Torus', no machine of TE-CCL's; they are DGX1, DGX2, NDv2"),
        ({"name": 2}, "name is 2, no machine of TE-CCL's; they are DGX1, DGX2, NDv2"),
        ({"name": "NDv2", "chasis": 2}, "chasis is not a field of TE-CCL's; did you mean chassis?"),
        ({"name": "NDv2", "gpus": 2}, "gpus is not a field of TE-CCL's; the fields are name, "),
        ({"name": "NDv2", "chassis": 0}, "chassis is 0; it must be a whole number from 1 to"),
        ({"name": "NDv2", "chassis": 2.5}, "chassis is '2.5'; it must be a whole number from 1"),
        ({"name": "NDv2", "alpha": [0, 0]}, "alpha is given, but TE-CCL has its own for NDv2"),
        ({"name": "DGX2", "alpha": [0, 0]}, "alpha is given, but TE-CCL has its own for DGX2"),
        ({"name": "DGX2", "chassis": 1}, "chassis is 1, but TE-CCL makes 2 of DGX2; write 2"),
        ({"name": "DGX1", "chassis": 2}, "chassis is 2, but TE-CCL makes 1 of DGX1; write 1"),
        ({"name": "AMD", "alpha": 0}, "alpha is 0; write [between GPUs, at switches] in seconds"),
        ({"name": "AMD", "alpha": [0]}, "alpha is [0]; write [between GPUs, at switches] in sec"),
        ({"name": "AMD", "alpha": [0, -1]}, "alpha[1] is -1; it must be an exact number from 0"),
        (
            {"name": "AMD", "alpha": [1e95, 0]},
            "alpha[0] in microseconds is about 1e+101, which",
        ),
        ({"name": "AMD", "chunk_size": 0}, "chunk_size is 0; it must be a positive exact number"),
        ({"name": "AMD", "side_length": 4}, "side_length is given, which AMD does not have; rem"),
        (
            {"name": "Mesh", "side_length": 6},
            "name is 'Mesh', whose rows run into the next in TE-CCL; for a mesh ask for "
            "torus:dims=6x6,wrap=false,bandwidth=100",
        ),
        ({"name": "Mesh"}, "ask for torus:dims=4x4,wrap=false"),
        ({"name": "Mesh", "side_length": "x"}, "side_length is 'x'; it must be a whole number"),
    ],
)
def test_faults_are_reported_with_the_field_and_the_remedy(tmp_path, params, message):
    found = fault(tmp_path, text(**params), "input.json")
    assert found.startswith(": TopologyParams.")
    assert message in found


def test_parameters_that_are_no_mapping(tmp_path):
    assert fault(tmp_path, '{"TopologyParams": "NDv2"}', "input.json") == (
        ": TopologyParams is 'NDv2'; it must hold the fields name, chassis, chunk_size, alpha"
    )
