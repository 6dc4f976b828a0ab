"""What methods can do, by their rows."""

from dataclasses import replace

from experiments.reproduction.capabilities import capabilities
from experiments.results.rows import Status
from tests.experiments.samples import clusters_of_rows


def test_capabilities_of_a_method_follow_from_rows() -> None:
    """Three sizes at the optimum; of another method the best of two choices, lost at 64 GPUs."""
    ours, theirs = clusters_of_rows()[:3], clusters_of_rows()[3:]
    tacos = [replace(row, method="tacos") for row in theirs]
    better = replace(tacos[0], parameters={"chunks": 2}, ratio=0.8)
    sccl = replace(theirs[0], method="sccl", status=Status.UNSUPPORTED, ratio=None)
    found = {one.method: one for one in capabilities([*ours, *tacos, better, sccl])}
    assert len(found) == 10
    best = found["ForestColl"]
    assert (best.switches, best.networks, best.optimal, best.worst) == (True, 3, 3, 1.0)
    assert (best.largest, best.beyond) == (64, None)
    greedy = found["TACOS"]
    assert (greedy.networks, greedy.optimal, greedy.worst) == (2, 0, 0.6)
    assert (greedy.largest, greedy.beyond) == (32, 64)
    assert (found["SCCL"].switches, found["SCCL"].networks) == (None, 0)
    flat = replace(theirs[0], method="bfb", topology="mi250:boxes=1", cluster="mi250")
    assert capabilities([flat])[4].switches is False
    assert found["SCCL"].slides == "no, yes, no"


def test_methods_without_allgathers_count_by_allreduces() -> None:
    """As of TTO and Blink; a refused allgather is no evidence, an allgather goes before."""
    theirs = clusters_of_rows()[3:]
    summed = [replace(row, method="tto", collective="allreduce") for row in theirs]
    refused = replace(theirs[0], method="tto", status=Status.UNSUPPORTED, ratio=None)
    both = [replace(row, method="multitree", collective="allreduce") for row in theirs]
    gathered = replace(theirs[0], method="multitree", ratio=1.0)
    found = {one.method: one for one in capabilities([*summed, refused, *both, gathered])}
    assert (found["TTO"].collective, found["TTO"].networks, found["TTO"].largest) == (
        "allreduce", 2, 32,
    )  # fmt: skip
    assert (found["MultiTree"].collective, found["MultiTree"].optimal) == ("allgather", 1)
    assert found["Blink"].collective == ""
    of_a_file = replace(summed[0], topology="meshes/mesh-3x3-idle-corner.yaml")
    assert capabilities([of_a_file])[7].switches is None
