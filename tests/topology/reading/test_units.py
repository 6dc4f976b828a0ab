"""Units of bandwidth and latency, exactly."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.files import topology_json, topology_yaml
from forestcoll.topology.reading.units import bandwidth_gb_s, latency_us
from tests.topology.texts import GOOD, fault, read


@pytest.mark.parametrize(
    ("written", "gb_s"),
    [
        ("400 Gb/s", 50),
        ("400Gbit/s", 50),
        ("50 GB/s", 50),
        ("12.5", Fraction(25, 2)),
        (12, 12),
        ("25/2 GB/s", Fraction(25, 2)),
        ("1.6 Tb/s", 200),
        ("900 MB/s", Fraction(9, 10)),
        ("8 kb/s", Fraction(1, 10**6)),
        ("1e3 Mb/s", Fraction(1, 8)),
        ("1 GiB/s", Fraction(2**30, 10**9)),
    ],
)
def test_bandwidths(written: object, gb_s: Fraction) -> None:
    """A byte is 8 bits; G is 1e9, Gi is 2^30."""
    assert bandwidth_gb_s(written) == gb_s


@pytest.mark.parametrize(
    ("written", "us"),
    [
        ("2 us", 2),
        ("500 ns", Fraction(1, 2)),
        ("1 ms", 1000),
        ("2 µs", 2),
        ("1.5", 1.5),
        ("1s", 1e6),
    ],
)
def test_latencies(written: str, us: float) -> None:
    assert latency_us(written) == us


@pytest.mark.parametrize(
    "written", ["400 gb/s", "400 Gbps", "400GBps", "400 GB", "400 G", "400 Gb", "400 gBit/s"]
)
def test_a_bandwidth_in_bits_or_bytes_is_refused_with_both_spellings(written: str) -> None:
    expected = "may be bits or bytes; write 400 Gb/s for bits (50 GB/s) or 400 GB/s for bytes"
    with pytest.raises(InvalidTopologyError, match=re.escape(expected)):
        bandwidth_gb_s(written)


@pytest.mark.parametrize(
    ("read_one", "written", "problem"),
    [
        (bandwidth_gb_s, "3 miles", "whose unit 'miles' is not known; write GB/s (bytes), Gb/s"),
        (bandwidth_gb_s, "3 us", "whose unit 'us' is not known; write GB/s (bytes)"),
        (latency_us, "3 Gb/s", "whose unit 'Gb/s' is not known; write ns, us, ms, or a number"),
        (latency_us, "3 sec", "whose unit 'sec' is not known"),
        (bandwidth_gb_s, "fast GB/s", "which is not a number"),
        (bandwidth_gb_s, "1e200 GB/s", "which is not a number"),
        (bandwidth_gb_s, True, "which is not a number"),
    ],
)
def test_other_units_are_refused(read_one, written: object, problem: str) -> None:
    with pytest.raises(InvalidTopologyError, match=re.escape(problem)):
        read_one(written)


@pytest.mark.parametrize("bandwidth", ["400 Gb/s", '"400 Gb/s"', "50 GB/s"])
def test_files_take_units_and_are_written_in_plain_numbers(tmp_path: Path, bandwidth: str) -> None:
    new = f"bandwidth_gb_s: {bandwidth}, latency_us: 500 ns"
    topology = read(tmp_path, GOOD.replace("bandwidth_gb_s: 1", new))
    assert [(e.bandwidth_gb_s, e.latency_us) for e in topology.links] == [(50, Fraction(1, 2))] * 2
    assert "bandwidth_gb_s: 50, latency_us: 0.5," in topology_yaml(topology)
    as_json = topology_json(topology).replace(
        ': 50, "latency_us": "0.5"', ': "400 Gb/s", "latency_us": "500 ns"'
    )
    assert "Gb/s" in as_json
    assert read(tmp_path, as_json, "net.json") == topology


def test_a_fault_names_the_field_and_the_line(tmp_path: Path) -> None:
    """Bounds hold for what is meant: -1 Gb/s is not positive."""
    message = fault(tmp_path, GOOD.replace("gb_s: 1", "gb_s: 400 gb/s"))
    assert message.startswith(", line 6: links[0].bandwidth_gb_s is '400 gb/s', which may be bits")
    message = fault(tmp_path, GOOD.replace("gb_s: 1", "gb_s: -1 Gb/s"))
    assert "links[0].bandwidth_gb_s is -1 Gb/s; it must be positive" in message
