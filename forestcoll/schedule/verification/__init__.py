"""Independent proof of schedules and certificates; shares no code with what makes them.

To read: ``dispatch`` (:func:`verify` of any schedule) and ``verdict``, then what it calls:
``trees/`` (forests of every form, and allreduces of two), ``steps/`` (step schedules), ``flows``,
and what these share: ``arrays`` (the form of arrays), ``paths`` (physical paths and link loads),
``prices`` (what the prices of a bound prove) and ``naming`` (how a counter-example calls things).
``certificates/`` proves certificates.
"""

from forestcoll.schedule.verification.certificates.allreduce_certificate import (
    AllreduceCertificateVerdict,
)
from forestcoll.schedule.verification.certificates.certificate import (
    CertificateVerdict,
    verify_certificate,
)
from forestcoll.schedule.verification.dispatch import verify
from forestcoll.schedule.verification.flows import FlowVerdict
from forestcoll.schedule.verification.steps.steps import StepVerdict
from forestcoll.schedule.verification.verdict import AllreduceVerdict, Verdict

__all__ = [
    "AllreduceCertificateVerdict",
    "AllreduceVerdict",
    "CertificateVerdict",
    "FlowVerdict",
    "StepVerdict",
    "Verdict",
    "verify",
    "verify_certificate",
]
