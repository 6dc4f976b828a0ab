"""The choice among variants: by the time pipelined, then by the time in steps, then the first."""

from baselines.building.fastest import fastest
from baselines.libraries import direct, recursive
from forestcoll.schedule import cost, synchronous
from forestcoll.topology import load_topology


def test_the_time_pipelined_decides() -> None:
    """Two A100 boxes: far first takes 7/2400 s per GB, near first 1/50."""
    topology = load_topology("dgx_a100:boxes=2")
    near, far = (recursive.generate(topology, order=order) for order in recursive.ORDERS)
    assert cost(far).time_s_per_gb < cost(near).time_s_per_gb
    assert fastest([near, far]) is fastest([far, near]) is far


def test_of_equals_the_time_in_steps_decides_and_then_the_order() -> None:
    """Direct exchange puts the same on every link in rotation, but waits for it step by step."""
    topology = load_topology("dgx_a100:boxes=2")
    rotation, at_once, again = (
        direct.generate(topology, order=order) for order in ("rotation", "at-once", "at-once")
    )
    assert cost(rotation).time_s_per_gb == cost(at_once).time_s_per_gb
    assert synchronous(rotation).time_s_per_gb > synchronous(at_once).time_s_per_gb
    assert fastest([rotation, at_once, again]) is at_once
