"""SCCL: schedules of given chunks, steps and rounds by constraint solving, or infeasibility proofs.

Problem: given C chunks a GPU (in an all-to-all a pair), S steps and R rounds, spread them in S
         steps that last R rounds together, or prove that it cannot be done. In a round a link of b
         units of bandwidth carries b chunks; all chunks sent in a step were there before it began.
Input:   GPUs joined by direct links; C, S and R, or what is to be the least of S and R.
Output:  a step schedule; InfeasibleError if it was proved that there is none.
Cost:    CP-SAT on C N E S Booleans, N GPUs and E links, N times as many of an all-to-all; it may
         never end, as SCCL.
Source:  Cai et al., "Synthesizing Optimal Collective Algorithms" (PPoPP 2021), section 3,
         and what its public code does. Reimplemented; z3 there, OR-Tools' CP-SAT here.

The unit of bandwidth is the largest of which every link has a whole number; SCCL asks for such
numbers. A round lasts what a chunk needs on one unit. Rounds are not written into the schedule:
its cost is what the sends need, which is no more.

Left out: gather and scatter; switches (ForestColl table 2: SCCL has none);
symmetry of the network, which would prune more; the lowering to GPU code. The published outcomes
that come out: docs/baselines/sccl.md.
"""

from __future__ import annotations

from baselines.interface.method import Method
from baselines.synthesizers.sccl.synthesis import COLLECTIVES, generate

__all__ = ["METHODS"]


METHODS = (
    Method(
        name="sccl",
        summary="steps and rounds by constraint solving, or a proof that there are none",
        source="Cai et al., Synthesizing Optimal Collective Algorithms (PPoPP 2021)",
        generate=generate,
        collectives=COLLECTIVES,
        notes="CP-SAT for z3; direct links only",
        libraries=("ortools.sat.python.cp_model",),
    ),
)
