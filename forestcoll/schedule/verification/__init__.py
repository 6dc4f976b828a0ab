"""Independent proof of schedules and certificates; shares no code with what makes them.

To read: ``dispatch`` (:func:`verify` of any schedule) and ``verdict``, then what it calls:
``trees/`` (forests of every form, and allreduces of two), ``steps/`` (step schedules), ``flows``,
and what these share: ``arrays`` (the form of arrays), ``paths`` (physical paths and link loads),
``prices`` (what the prices of a bound prove) and ``naming`` (how a counter-example calls things).
``certificates/`` proves certificates.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from forestcoll.schedule.verification.dispatch import verify
from forestcoll.schedule.verification.flows import FlowVerdict
from forestcoll.schedule.verification.steps.steps import StepVerdict
from forestcoll.schedule.verification.verdict import AllreduceVerdict, Verdict

if TYPE_CHECKING:
    from forestcoll.schedule.verification.certificates.allreduce_certificate import (
        AllreduceCertificateVerdict,
    )
    from forestcoll.schedule.verification.certificates.certificate import (
        CertificateVerdict,
        verify_certificate,
    )

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

_HOME = {
    "AllreduceCertificateVerdict": "allreduce_certificate",
    "CertificateVerdict": "certificate",
    "verify_certificate": "certificate",
}
"""Where each name of ``certificates/`` is from; loaded when first asked for: it is slow."""


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = import_module(f"{__name__}.certificates.{_HOME[name]}")
    globals()[name] = getattr(home, name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
