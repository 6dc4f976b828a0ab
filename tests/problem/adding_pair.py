"""Three GPUs with a switch that reduces before a switch that multicasts, and prices for them."""

from fractions import Fraction

from forestcoll.problem.allreduce_bound import PricedSet
from forestcoll.topology import Topology
from tests.hand_networks import network_of


def adding_pair(*, marked: bool) -> Topology:
    """GPUs a, b, c at 5 GB/s to switch in and from switch out; 1 GB/s from in to out.

    Positions: a 0, b 1, c 2, in 3, out 4. The switches multicast and reduce if they are ``marked``.
    """
    names = "a b c [in*] [out*]" if marked else "a b c [in] [out]"
    return network_of(names, "in > out, a b c > in: 5, out > a b c: 5", "pair")


def prices_of_pair() -> tuple[PricedSet, ...]:
    """Price 1 of gathering into {gpu, out}, and of reducing out of {gpu, in}, of each GPU."""
    one, none = Fraction(1), Fraction(0)
    into = tuple(PricedSet((gpu, 4), gather=one, reduce=none) for gpu in range(3))
    return (*into, *(PricedSet((gpu, 3), gather=none, reduce=one) for gpu in range(3)))
