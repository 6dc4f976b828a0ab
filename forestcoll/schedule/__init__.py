"""What a schedule is, whoever made it: forests, their proof, their cost and their files."""

from forestcoll.schedule.collectives import Allreduce
from forestcoll.schedule.cost import Cost, cost
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.files import read_schedule, write_schedule
from forestcoll.schedule.forest import Forest, Path, Routes, Tree
from forestcoll.schedule.multicast import MulticastForest, PhysicalTree, Walks
from forestcoll.schedule.verify import AllreduceVerdict, Verdict, verify

__all__ = [
    "Allreduce",
    "AllreduceVerdict",
    "Cost",
    "FactoredForest",
    "Forest",
    "MulticastForest",
    "Path",
    "PhysicalTree",
    "Routes",
    "Tree",
    "Verdict",
    "Walks",
    "cost",
    "read_schedule",
    "verify",
    "write_schedule",
]
