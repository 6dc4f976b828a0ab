"""Schedule types of every method, with their proof, cost model, simulation and files.

To read first, the types: ``forest`` (with ``tree_flow`` and ``time_plan``), ``factored``,
``multicast``, ``allreduce``, ``steps`` (with ``sends`` and ``clock``), ``flows``, and ``program``,
to which all compile. ``pipelined`` is the model of time, ``verification/`` the independent proof,
``cost_model/`` the theoretical costs, ``simulate/`` simulation with latencies. ``transform/`` makes
schedules from schedules; ``files/`` reads and writes them. The types share ``equality``,
``exact_sums`` and ``protocols``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forestcoll.lazy_loading import attach
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.clock import Clock, timed
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.forest import Forest, Path, Routes, Tree
from forestcoll.schedule.multicast import MulticastForest, PhysicalTree, Walks
from forestcoll.schedule.sends import Chunks, Intervals, Send, Sends, TimedSend
from forestcoll.schedule.steps import StepSchedule

if TYPE_CHECKING:
    from forestcoll.problem.all_to_all_certificate import AllToAllCertificate
    from forestcoll.problem.allreduce_certificate import AllreduceCertificate
    from forestcoll.problem.certificate_document import (
        Certificate,
        certificate_schema,
        is_certificate,
        read_certificate,
        write_certificate,
    )
    from forestcoll.problem.over_time.time_certificate import TimeCertificate
    from forestcoll.schedule.cost_model import Cost, Steps, cost, makespan_s_per_gb, synchronous
    from forestcoll.schedule.files import read_schedule, write_schedule
    from forestcoll.schedule.transform import (
        by_shards,
        lockstep,
        sequential,
        stepwise,
        time_reversed,
    )
    from forestcoll.schedule.verification import (
        AllreduceCertificateVerdict,
        AllreduceVerdict,
        AllToAllCertificateVerdict,
        CertificateVerdict,
        FlowVerdict,
        StepVerdict,
        TimeCertificateVerdict,
        Verdict,
        verify,
        verify_certificate,
        verify_time_bound,
    )

__all__ = [
    "AllToAllCertificate", "AllToAllCertificateVerdict", "Allreduce", "AllreduceCertificate",
    "AllreduceCertificateVerdict", "AllreduceVerdict", "Certificate", "CertificateVerdict",
    "Chunks", "Clock", "Cost", "FactoredForest", "FlowSchedule", "FlowVerdict", "Forest",
    "Intervals", "MulticastForest", "Path", "PhysicalTree", "Routes", "Send", "Sends",
    "StepSchedule", "StepVerdict", "Steps", "TimeCertificate", "TimeCertificateVerdict",
    "TimedSend", "Tree", "Verdict", "Walks", "by_shards", "certificate_schema", "cost",
    "is_certificate", "lockstep", "makespan_s_per_gb", "read_certificate", "read_schedule",
    "sequential", "stepwise", "synchronous", "time_reversed", "timed", "verify",
    "verify_certificate", "verify_time_bound", "write_certificate", "write_schedule",
]  # fmt: skip

_DOCUMENTS = "forestcoll.problem.certificate_document"
_PROOFS = "forestcoll.schedule.verification"
_COSTS = "forestcoll.schedule.cost_model"
_FILES = "forestcoll.schedule.files"
_CHANGES = "forestcoll.schedule.transform"

# All but the types is loaded when first asked for. Most commands need a part of it, and of the
# certificates none, whose schemas take long to build.
__getattr__, __dir__ = attach(
    __name__,
    {
        "AllToAllCertificate": "forestcoll.problem.all_to_all_certificate",
        "AllToAllCertificateVerdict": _PROOFS,
        "AllreduceCertificate": "forestcoll.problem.allreduce_certificate",
        "AllreduceCertificateVerdict": _PROOFS,
        "AllreduceVerdict": _PROOFS,
        "Certificate": _DOCUMENTS,
        "CertificateVerdict": _PROOFS,
        "Cost": _COSTS,
        "FlowVerdict": _PROOFS,
        "StepVerdict": _PROOFS,
        "Steps": _COSTS,
        "TimeCertificate": "forestcoll.problem.over_time.time_certificate",
        "TimeCertificateVerdict": _PROOFS,
        "Verdict": _PROOFS,
        "by_shards": _CHANGES,
        "certificate_schema": _DOCUMENTS,
        "cost": _COSTS,
        "is_certificate": _DOCUMENTS,
        "lockstep": _CHANGES,
        "makespan_s_per_gb": _COSTS,
        "read_certificate": _DOCUMENTS,
        "read_schedule": _FILES,
        "sequential": _CHANGES,
        "stepwise": _CHANGES,
        "synchronous": _COSTS,
        "time_reversed": _CHANGES,
        "verify": _PROOFS,
        "verify_certificate": _PROOFS,
        "verify_time_bound": _PROOFS,
        "write_certificate": _DOCUMENTS,
        "write_schedule": _FILES,
    },
)
