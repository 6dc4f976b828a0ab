"""MultiTree's trees and TACOS's trials, grown natively, beside those of their slow twins."""

import random

from forestcoll.topology import Topology
from tests.baselines.synthesizers.multitree import test_tree_growth as multitree
from tests.baselines.synthesizers.tacos import test_matching as tacos
from tests.reference.matching import TimedLink


def trees_are_the_twins(topology: Topology, chance: random.Random) -> bool:
    """Compare MultiTree's parents, paths and steps, by a reading and a unit; whether it could grow.

    Raises
    ------
    AssertionError
        If they differ.
    """
    widths = sorted({link.bandwidth_gb_s for link in topology.links})
    unit = chance.choice((widths[0] / 2, widths[0], widths[len(widths) // 2]))
    reading = chance.choice(multitree.READINGS)
    return multitree.check_against_the_reference(topology, unit, *reading)


def trials_are_the_twins(topology: Topology, chance: random.Random) -> bool:
    """Compare TACOS's transfers, with switches taken for GPUs; whether all was delivered.

    Raises
    ------
    AssertionError
        If they differ.
    """
    most = chance.choice((1, 3, 40))
    links = [TimedLink(e.tail, e.head, chance.randint(1, most)) for e in topology.links]
    chunks, seed = chance.choice((1, 2, 5, 30)), chance.randrange(2**60)
    maximum = chance.random() < 0.7
    trial = tacos.check_against_the_reference(len(topology.nodes), links, chunks, seed, maximum)
    return trial.is_complete
