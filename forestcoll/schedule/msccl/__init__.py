"""MSCCL's XML as data, whoever wrote it: what exporters write and interpreters read.

To read: ``algorithm`` (what such a file says).
"""

from forestcoll.schedule.msccl.algorithm import (
    ALIASES,
    COLLECTIVES,
    PROTOCOLS,
    Algorithm,
    Gpu,
    Instruction,
    Threadblock,
)

__all__ = [
    "ALIASES",
    "COLLECTIVES",
    "PROTOCOLS",
    "Algorithm",
    "Gpu",
    "Instruction",
    "Threadblock",
]
