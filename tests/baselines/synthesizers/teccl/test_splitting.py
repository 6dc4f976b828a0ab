"""One schedule of several demands, divided: each is whole, and all keep the clock."""

from dataclasses import replace

import numpy as np
import pytest

from baselines.synthesizers.teccl.conversion import schedule_of
from baselines.synthesizers.teccl.instance.commodities import Demand, demand_of, divided
from baselines.synthesizers.teccl.instance.epochs import EpochNetwork
from baselines.synthesizers.teccl.milp.horizon import fewest_epochs
from baselines.synthesizers.teccl.splitting import Stage, split
from forestcoll.errors import VerificationError
from forestcoll.problem.demand import Demand as GivenDemand
from forestcoll.problem.limits import Limits
from forestcoll.schedule import verify
from forestcoll.topology import load_topology


def test_every_demand_gets_its_chunks_and_paths() -> None:
    """An allgather, a broadcast and a demand of three chunks of at most 1000 bytes."""
    ring = load_topology("ring:nodes=4")
    given = GivenDemand.of_chunks(4, [(1, 1500, [0, 3]), (2, 40, [0])])
    stages = [
        Stage("allgather", 4000, demand_of(4, "allgather", 1, 4000)),
        Stage("broadcast", 2000, demand_of(4, "broadcast", 2, 2000, root=3)),
        Stage("all-to-all", given.bytes, divided(given, 1000)),
    ]
    joined = Demand.joined([stage.demand for stage in stages])
    network = EpochNetwork.of(ring, joined.chunk_kb, joined.chunk_kb)
    found = fewest_epochs(network, joined, "cp-sat", Limits())
    whole = schedule_of(network, joined, found.kept, "allgather", 1)
    parts = split(whole, stages)
    assert [verify(part).collective for part in parts] == [stage.collective for stage in stages]
    assert sum(len(part.sends) for part in parts) == len(whole.sends)
    ends = [part.clock.finish_us for part in parts if part.clock is not None]
    assert whole.clock is not None
    assert max(ends) == whole.clock.finish_us
    assert [part.clock.size_bytes for part in parts if part.clock] == [4000, 2000, 1540]
    assert parts[2].demand == given


def test_a_part_without_its_last_transfer_is_no_schedule() -> None:
    ring = load_topology("ring:nodes=3")
    stage = Stage("allgather", 3000, demand_of(3, "allgather", 1, 3000))
    network = EpochNetwork.of(ring, stage.demand.chunk_kb, stage.demand.chunk_kb)
    found = fewest_epochs(network, stage.demand, "cp-sat", Limits())
    whole = schedule_of(network, stage.demand, found.kept, "allgather", 1)
    assert whole.clock is not None
    most = np.arange(len(whole.sends) - 1)
    short = replace(whole, sends=whole.sends.taken(most), clock=whole.clock.taken(most))
    with pytest.raises(VerificationError):
        verify(split(short, [stage])[0])
