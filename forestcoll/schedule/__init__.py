"""What a schedule is, whoever made it: forests, their proof, their cost and their files."""

from forestcoll.schedule.certificate import (
    Certificate,
    certificate_schema,
    is_certificate,
    read_certificate,
    write_certificate,
)
from forestcoll.schedule.collectives import Allreduce
from forestcoll.schedule.cost import Cost, cost
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.files import read_schedule, write_schedule
from forestcoll.schedule.forest import Forest, Path, Routes, Tree
from forestcoll.schedule.multicast import MulticastForest, PhysicalTree, Walks
from forestcoll.schedule.verify import AllreduceVerdict, Verdict, verify
from forestcoll.schedule.verify_certificate import CertificateVerdict, verify_certificate

__all__ = [
    "Allreduce",
    "AllreduceVerdict",
    "Certificate",
    "CertificateVerdict",
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
    "certificate_schema",
    "cost",
    "is_certificate",
    "read_certificate",
    "read_schedule",
    "verify",
    "verify_certificate",
    "write_certificate",
    "write_schedule",
]
