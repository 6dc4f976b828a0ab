"""Independent proof of schedules and certificates; shares no code with what makes them.

To read: ``dispatch`` (:func:`verify` of any schedule) and ``verdict``. Then the proofs: ``trees/``
(forests of every form, and allreduces of two), ``steps/`` (step schedules) and ``flows``. They
share ``arrays`` and ``demand_form`` (forms), ``paths`` (physical paths and link loads) with its
``lookup``, ``prices`` and ``pair_prices`` (bounds by prices) and ``naming`` (names in
counter-examples). ``time_bounds`` with ``gossip``, ``rooted_gossip``, ``passes`` proves bounds on
time, ``certificates/`` certificates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forestcoll.lazy_loading import attach
from forestcoll.schedule.verification.dispatch import verify
from forestcoll.schedule.verification.verdict import AllreduceVerdict, Verdict

if TYPE_CHECKING:
    from forestcoll.schedule.verification.certificates.allreduce_certificate import (
        AllreduceCertificateVerdict,
    )
    from forestcoll.schedule.verification.certificates.certificate import (
        CertificateVerdict,
        verify_certificate,
    )
    from forestcoll.schedule.verification.certificates.demand_prices import (
        AllToAllCertificateVerdict,
    )
    from forestcoll.schedule.verification.certificates.least_times import TimeCertificateVerdict
    from forestcoll.schedule.verification.flows import FlowVerdict
    from forestcoll.schedule.verification.steps.steps import StepVerdict
    from forestcoll.schedule.verification.time_bounds import verify_time_bound

__all__ = [
    "AllToAllCertificateVerdict", "AllreduceCertificateVerdict", "AllreduceVerdict",
    "CertificateVerdict", "FlowVerdict", "StepVerdict", "TimeCertificateVerdict", "Verdict",
    "verify", "verify_certificate", "verify_time_bound",
]  # fmt: skip

_CERTIFICATES = f"{__name__}.certificates"

# Loaded when first asked for: a schedule needs the proof of its kind, and the schemas of
# certificates take long to build.
__getattr__, __dir__ = attach(
    __name__,
    {
        "AllToAllCertificateVerdict": f"{_CERTIFICATES}.demand_prices",
        "AllreduceCertificateVerdict": f"{_CERTIFICATES}.allreduce_certificate",
        "CertificateVerdict": f"{_CERTIFICATES}.certificate",
        "FlowVerdict": f"{__name__}.flows",
        "StepVerdict": f"{__name__}.steps.steps",
        "TimeCertificateVerdict": f"{_CERTIFICATES}.least_times",
        "verify_certificate": f"{_CERTIFICATES}.certificate",
        "verify_time_bound": f"{__name__}.time_bounds",
    },
)
