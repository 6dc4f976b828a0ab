"""What a schedule is, whoever made it: forests or steps, their proof, cost and files."""

from forestcoll.schedule.allreduce_certificate import AllreduceCertificate
from forestcoll.schedule.certificate import (
    Certificate,
    certificate_schema,
    is_certificate,
    read_certificate,
    write_certificate,
)
from forestcoll.schedule.collectives import Allreduce
from forestcoll.schedule.cost import Cost, Steps, cost, finish_s_per_gb, in_steps
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.files import read_schedule, write_schedule
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.forest import Forest, Path, Routes, Tree
from forestcoll.schedule.multicast import MulticastForest, PhysicalTree, Walks
from forestcoll.schedule.steps import (
    Chunks,
    Clock,
    Intervals,
    Send,
    Sends,
    StepSchedule,
    TimedSend,
    timed,
)
from forestcoll.schedule.transform import by_shards, in_turn, lockstep, stepwise, time_reversed
from forestcoll.schedule.verify import AllreduceVerdict, Verdict, verify
from forestcoll.schedule.verify_allreduce_certificate import AllreduceCertificateVerdict
from forestcoll.schedule.verify_certificate import CertificateVerdict, verify_certificate
from forestcoll.schedule.verify_flows import FlowVerdict
from forestcoll.schedule.verify_steps import StepVerdict

__all__ = [
    "Allreduce",
    "AllreduceCertificate",
    "AllreduceCertificateVerdict",
    "AllreduceVerdict",
    "Certificate",
    "CertificateVerdict",
    "Chunks",
    "Clock",
    "Cost",
    "FactoredForest",
    "FlowSchedule",
    "FlowVerdict",
    "Forest",
    "Intervals",
    "MulticastForest",
    "Path",
    "PhysicalTree",
    "Routes",
    "Send",
    "Sends",
    "StepSchedule",
    "StepVerdict",
    "Steps",
    "TimedSend",
    "Tree",
    "Verdict",
    "Walks",
    "by_shards",
    "certificate_schema",
    "cost",
    "finish_s_per_gb",
    "in_steps",
    "in_turn",
    "is_certificate",
    "lockstep",
    "read_certificate",
    "read_schedule",
    "stepwise",
    "time_reversed",
    "timed",
    "verify",
    "verify_certificate",
    "write_certificate",
    "write_schedule",
]
