"""GPUs outside a demand that a schedule uses."""

import pytest

from baselines.interface.forwarding_gpus import forwarding_gpus
from baselines.synthesizers.teccl.teccl import generate
from forestcoll.topology import load_topology

RING = load_topology("ring:nodes=6")


@pytest.mark.parametrize(
    ("group", "outside"),
    [("gpu0+gpu1", ()), ("gpu0+gpu2", ("gpu1",)), ("gpu4+gpu1", None), ("gpu5+gpu0+gpu1", ())],
)
def test_gpus_between_those_of_a_group_forward(group: str, outside: tuple[str, ...] | None) -> None:
    """From gpu4 to gpu1 there are two ways, each over two GPUs."""
    made = generate(RING, demand=f"scatter:root={group[:4]},group={group}", milp=True)
    found = forwarding_gpus(made)
    assert (
        found == outside if outside is not None else found in {("gpu0", "gpu5"), ("gpu2", "gpu3")}
    )


def test_gpus_forward_on_the_way_of_one_transfer() -> None:
    """A switch in between is not a GPU; a schedule without a demand has no outside."""
    assert forwarding_gpus(generate(load_topology("dgx1"), "broadcast")) == ()
    made = generate(load_topology("dgx_h100:boxes=1"), demand="sendrecv:group=0/0-1")
    assert forwarding_gpus(made) == ()
