"""GPUs that get in and out of their box at once, over links that no other of them needs."""

from baselines.networks.own_nics import with_own_links
from baselines.networks.switch_paths import Router
from forestcoll.topology import Topology, TopologyBuilder
from tests.hand_networks import network_of


def box(**nics: str) -> Topology:
    """GPUs of a box, each on some of its NICs "1" to "3", and a GPU beyond the network."""
    builder = TopologyBuilder()
    network = builder.switch("network")
    for name in sorted(set("".join(nics.values()))):
        builder.link(builder.switch(name, 0), network, 1)
    for gpu, reached in nics.items():
        builder.gpu(gpu, 0)
        for nic in reached:
            builder.link(gpu, nic, 1)
    builder.link(builder.gpu("far", 1), network, 1)
    return builder.build("box")


def chosen(topology: Topology) -> list[str]:
    """Those of all GPUs of the box."""
    router = Router(topology)
    where = [node.box for node in topology.nodes]
    gpus = [gpu for gpu in topology.compute if where[gpu] == 0]
    reached = {gpu: sum(set(router.reach[gpu])) for gpu in topology.compute}
    return [topology.nodes[gpu].name for gpu in with_own_links(router, where, gpus, reached)]


def test_everyone_with_a_nic_of_its_own_is_chosen() -> None:
    assert chosen(box(a="1", b="2", c="3")) == ["a", "b", "c"]


def test_of_those_that_share_a_nic_the_first_is_chosen() -> None:
    assert chosen(box(a="1", b="1", c="2")) == ["a", "c"]


def test_a_gpu_with_a_choice_makes_way() -> None:
    """A may use both NICs and takes the first, which is all that b has: an augmenting path."""
    assert chosen(box(a="12", b="1")) == ["a", "b"]
    assert chosen(box(a="12", b="13", c="1")) == ["a", "b", "c"]


def test_a_gpu_that_nothing_comes_back_to_is_passed_over() -> None:
    """B sends to the network and hears nothing from it."""
    assert chosen(
        network_of("[network] a@0 far@1 b@0", "a far - network, b > network", "one way")
    ) == ["a"]
