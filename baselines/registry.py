"""The peers by name, all called alike."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from baselines.building.phases import GATHERING, ROOTED
from baselines.direct_connect import shifted_ring, torus
from baselines.interface.method import Method
from baselines.libraries import blueconnect, bruck, direct, nccl_nvls, nccl_tree, recursive, ring
from baselines.synthesizers import sccl, unwound
from baselines.synthesizers.blink import blink, blink_switch
from baselines.synthesizers.multitree import multitree
from baselines.synthesizers.not_reimplemented import refuse
from baselines.synthesizers.tacos import tacos
from forestcoll.schedule.steps import COLLECTIVES

__all__ = ["METHODS"]

METHODS: Mapping[str, Method] = MappingProxyType(
    {
        method.name: method
        for method in (
            Method(
                name="ring",
                summary="rings through all boxes, one per NIC",
                source="NCCL and RCCL ring",
                generate=ring.generate,
                collectives=GATHERING,
                notes="direct links (xGMI): rings are searched for, not RCCL's hand-made ones",
            ),
            Method(
                name="nccl-tree",
                summary="a chain in each box, a double binary tree between them, per NIC",
                source="NCCL tree, after Sanders, Speck and Traff (2009)",
                generate=nccl_tree.generate,
                collectives=("allreduce",),
                notes="direct links (xGMI): chains are searched for",
            ),
            Method(
                name="nccl-nvls",
                summary="NVSwitches copy and add, SHARP or a ring per NIC between the boxes",
                source="NCCL NVLS (2.17 and later)",
                generate=nccl_nvls.generate,
                collectives=("allreduce", "allgather", "reduce-scatter"),
                notes="switches marked multicast only; a GPU's own part skips the switch",
            ),
            Method(
                name="nccl-nvls-tree",
                summary="NVSwitches copy and add, a double binary tree per NIC between the boxes",
                source="NCCL NVLSTree (2.18 and later)",
                generate=nccl_nvls.generate_tree,
                collectives=("allreduce",),
                notes="switches marked multicast only; a GPU's own part skips the switch",
            ),
            Method(
                name="double-binary-tree",
                summary="two binary trees over all GPUs, leaves of the one inner in the other",
                source="Sanders, Speck and Traff (2009), as in NCCL and BFB (NSDI 2025)",
                generate=nccl_tree.generate_flat,
                collectives=("allreduce",),
                notes="boxes are ignored",
            ),
            Method(
                name="direct",
                summary="everyone sends to everyone, at once or in rotation",
                source="direct and pairwise exchange (Thakur et al., IJHPCA 2005)",
                generate=direct.generate,
                collectives=direct.COLLECTIVES,
                notes="GPUs and switches forward along least-cost paths",
            ),
            Method(
                name="multitree",
                summary="greedy trees from all roots, grown step by step",
                source="Huang et al., MultiTree (ISCA 2021), as in ForestColl section 6.5",
                generate=multitree.generate,
                collectives=GATHERING,
                notes="unit = slowest link; trees flow at once; the paper's fastest reading",
            ),
            Method(
                name="recursive-halving-doubling",
                summary="swaps with partners at distances 1, 2, 4, ...",
                source="Thakur, Rabenseifner, Gropp (IJHPCA 2005)",
                generate=recursive.generate,
                collectives=GATHERING,
                notes="the better order (A100 x2: far-first 342.9 GB/s, near-first 50.0); any N",
            ),
            Method(
                name="bruck",
                summary="log2 N steps for any N, to the GPU 1, 2, 4, ... places away",
                source="Bruck et al. (IEEE TPDS 1997)",
                generate=bruck.generate,
                collectives=(*GATHERING, "all-to-all"),
            ),
            Method(
                name="blueconnect",
                summary="rings inside the boxes, then from box to box on every rail",
                source="Cho et al., BlueConnect (MLSys 2019)",
                generate=blueconnect.generate,
                collectives=GATHERING,
                notes="two factors, box and number in it; on direct links as many rings as help",
            ),
            Method(
                name="torus",
                summary="ring collectives dimension by dimension, rotated parts on all links",
                source="Sack and Gropp (ACM TOPC 2015), as in Zhao et al. (NSDI 2025)",
                generate=torus.generate,
                collectives=GATHERING,
            ),
            Method(
                name="shifted-ring",
                summary="two rings of different strides, half of every shard each way round",
                source="TopoOpt (NSDI 2023), as in Zhao et al. (NSDI 2025)",
                generate=shifted_ring.shifted_ring,
                collectives=GATHERING,
                notes="on one ring or two in the order of the GPUs' numbers",
            ),
            Method(
                name="shifted-bfb-ring",
                summary="the same rings, every shard both ways round by the shortest way",
                source="Zhao et al. (NSDI 2025)",
                generate=shifted_ring.shifted_bfb_ring,
                collectives=GATHERING,
                notes="on one ring or two in the order of the GPUs' numbers",
            ),
            Method(
                name="tacos",
                summary="chunks and links matched at random along a time-expanded network",
                source="Won et al., TACOS (MICRO 2024)",
                generate=tacos.generate,
                collectives=GATHERING,
                notes="switches unwound; matchings made maximum unless greedy ones are asked for",
            ),
            Method(
                name="blink",
                summary="spanning trees of a single root, packed for the best rate",
                source="Wang et al., Blink (MLSys 2020)",
                generate=blink.generate,
                collectives=ROOTED,
                notes="no switches; no protocol across machines",
            ),
            Method(
                name="blink-switch",
                summary="Blink on the links that ForestColl's switch removal leaves",
                source="Blink+Switch of ForestColl section 6.1",
                generate=blink_switch.generate,
                collectives=ROOTED,
                notes="the rate depends on who removes the switches",
            ),
            Method(
                name="unwound",
                summary="switches unwound into rings, cliques or hypercubes, then our core",
                source="ForestColl section 5.3, of TACCL and TACOS",
                generate=unwound.generate,
                collectives=(*GATHERING, "broadcast", "reduce"),
                notes="an ablation: all but the switch removal is ForestColl's",
            ),
            Method(
                name="sccl",
                summary="steps and rounds by constraint solving, or a proof that there are none",
                source="Cai et al., Synthesizing Optimal Collective Algorithms (PPoPP 2021)",
                generate=sccl.generate,
                collectives=sccl.COLLECTIVES,
                notes="CP-SAT for z3; direct links only; no all-to-all",
            ),
            Method(
                name="syccl",
                summary="MILPs over sketches that follow the symmetry of the network",
                source="Cao et al., SyCCL (SIGCOMM 2025)",
                generate=refuse("syccl"),
                collectives=COLLECTIVES,
                notes="not reimplemented",
            ),
            Method(
                name="tto",
                summary="three overlapping trees on a mesh of chips",
                source="Laskar et al., TTO (HPCA 2024)",
                generate=refuse("tto"),
                collectives=COLLECTIVES,
                notes="not reimplemented",
            ),
        )
    }
)
"""Every baseline by its name."""
