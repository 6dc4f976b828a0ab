"""Networks on which schedules are hard to add up."""

from forestcoll.topology import Topology, load_topology


def holed_mesh() -> Topology:
    """A mesh of 5 x 6 without three of its links.

    Its pairs have so many different numbers of least-cost paths that no parts of 64 bits are common
    to all.
    """
    mesh = load_topology("torus:dims=5x6,wrap=false")
    for dead in ("gpu2.3 - gpu2.4", "gpu3.1 - gpu2.1", "gpu1.4 - gpu1.5"):
        mesh = mesh.without(dead)
    return mesh
