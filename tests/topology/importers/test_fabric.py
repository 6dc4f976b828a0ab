"""Description of a fabric: what it is without being told."""

from forestcoll.topology.importers.fabric import Fabric, Port


def test_ports_and_fabrics_have_plain_defaults() -> None:
    """A port is as fast as its NIC, and no switch multicasts."""
    port = Port("leaf", "node0", "mlx5_0")
    assert port.bandwidth_gb_s is None
    assert port.guid == ""
    assert Fabric(("leaf",), (), (port,)).multicast == frozenset()
