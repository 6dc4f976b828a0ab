"""Throughput-optimal schedules for collective communication on GPU networks, with their proofs.

>>> import forestcoll
>>> forest = forestcoll.generate(forestcoll.load_topology("dgx_a100:boxes=4"))
>>> float(forest.algbw_gb_s)
266.6666666666667
"""

from forestcoll.best_k import best_k
from forestcoll.certificate import certify
from forestcoll.core.assembly import expand
from forestcoll.core.fixed_k import FixedK, fixed_k
from forestcoll.core.optimality import optimum
from forestcoll.generate import generate, generate_factored, generate_multicast, generate_timed
from forestcoll.latency import latency
from forestcoll.lowering import lower
from forestcoll.multicast.pruning import multicast
from forestcoll.problem.optimum import Optimum
from forestcoll.schedule import (
    Allreduce,
    Certificate,
    FactoredForest,
    Forest,
    MulticastForest,
    cost,
    read_certificate,
    read_schedule,
    verify,
    verify_certificate,
    write_certificate,
    write_schedule,
)
from forestcoll.schedule.program import Program
from forestcoll.topology import (
    Topology,
    group,
    load_topology,
    read_topology,
    validate,
    write_topology,
)

__all__ = [
    "Allreduce",
    "Certificate",
    "FactoredForest",
    "FixedK",
    "Forest",
    "MulticastForest",
    "Optimum",
    "Program",
    "Topology",
    "best_k",
    "certify",
    "cost",
    "expand",
    "fixed_k",
    "generate",
    "generate_factored",
    "generate_multicast",
    "generate_timed",
    "group",
    "latency",
    "load_topology",
    "lower",
    "multicast",
    "optimum",
    "read_certificate",
    "read_schedule",
    "read_topology",
    "validate",
    "verify",
    "verify_certificate",
    "write_certificate",
    "write_schedule",
    "write_topology",
]
