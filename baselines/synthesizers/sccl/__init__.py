"""SCCL: schedules of so many chunks, steps and rounds by constraint solving, or proofs of none.

Problem: given C chunks a GPU, S steps and R rounds, spread the chunks in S steps that last R
         rounds together, or prove that it cannot be done. In a round a link of b units of
         bandwidth carries b chunks; all chunks sent in a step were there before it began.
Input:   GPUs joined by direct links; C, S and R, or what is to be the least of S and R.
Output:  a step schedule; InfeasibleError if it was proved that there is none.
Cost:    CP-SAT on C N E S Booleans, N GPUs and E links: seconds for 8 to 16 GPUs; beyond that it
         may never end, as SCCL.
Source:  Cai et al., "Synthesizing Optimal Collective Algorithms" (PPoPP 2021), section 3,
         and what its public code does. Reimplemented; z3 there, OR-Tools' CP-SAT here.

Modules: ``network`` (links in whole units of bandwidth), ``constraints``, ``synthesis``
(instances, least steps, least rounds, reductions) and ``pareto`` (the paper's Algorithm 1).

The unit of bandwidth is the largest of which every link has a whole number; SCCL asks for such
numbers. A round lasts what a chunk needs on one unit. A step of r rounds thus takes at most r times
that in the time in steps (``in_steps``), which counts the load of the slowest link and not whole
rounds; it takes less where only wide links are in use and leave a part of a round idle. Rounds are
not written into the schedule: its cost is what the sends need.

Left out: the all-to-all, gather and scatter; switches (ForestColl table 2: SCCL has none);
symmetry of the network, which would prune more; the lowering to GPU code.

The outcomes of SCCL's public code come out (tests and benchmarks): on DGX-1 (chunks:steps:rounds)
1:2:2, 2:2:3, 3:3:4 and 6:3:7 exist, 2:2:2 and 3:2:4 do not; 1:3:3, 2:3:5 and 3:3:7 on the
3-cube; 1:2:2, 2:2:4 and 3:2:6 on the torus of 3 x 3; 1:4:4 on the 4-cube, and 3:4:12, for which
z3 has no answer in 120 s. Of the times of SCCL's least steps on DGX-1 that TE-CCL publishes (its
table 3: 3.4, 5.1 and 8 us for 1, 2 and 3 chunks of 1 us and 0.7 us a step) the first two are ours,
2 and 3 steps; for 3 chunks we find 4 steps, 6.8 us.
"""

from baselines.interface.method import Method
from baselines.synthesizers.sccl.pareto import Point, pareto
from baselines.synthesizers.sccl.synthesis import COLLECTIVES, generate

__all__ = ["COLLECTIVES", "METHODS", "Point", "generate", "pareto"]


METHODS = (
    Method(
        name="sccl",
        summary="steps and rounds by constraint solving, or a proof that there are none",
        source="Cai et al., Synthesizing Optimal Collective Algorithms (PPoPP 2021)",
        generate=generate,
        collectives=COLLECTIVES,
        notes="CP-SAT for z3; direct links only; no all-to-all",
    ),
)
