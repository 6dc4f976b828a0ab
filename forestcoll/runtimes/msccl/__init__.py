"""MSCCL XML algorithms as data, shared by the exporter and the interpreter.

To read: ``algorithm`` (the content of a file), ``reading`` (from a file or a text),
``several_algorithms`` (files with more than one), ``writing``.
"""

from forestcoll.runtimes.msccl.algorithm import (
    ALIASES,
    COLLECTIVES,
    CUSTOM,
    PROTOCOLS,
    Algorithm,
    Gpu,
    Instruction,
    Threadblock,
)
from forestcoll.runtimes.msccl.reading import (
    Reading,
    Remark,
    parse_algorithm,
    read_algorithm,
    read_leniently,
)
from forestcoll.runtimes.msccl.several_algorithms import read_all
from forestcoll.runtimes.msccl.writing import written_algorithm

__all__ = [
    "ALIASES", "COLLECTIVES", "CUSTOM", "PROTOCOLS", "Algorithm", "Gpu", "Instruction", "Reading",
    "Remark", "Threadblock", "parse_algorithm", "read_algorithm", "read_all", "read_leniently",
    "written_algorithm",
]  # fmt: skip
