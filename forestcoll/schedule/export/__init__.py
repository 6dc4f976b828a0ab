"""Export of programs to the formats of runtimes and simulators.

To read: ``between_gpus`` (joins transfers at switches); ``excess`` (a limit that an export breaks);
``msccl/`` (the algorithms of MSCCL); ``mscclpp/`` (the plans of MSCCL++); ``partition`` (data cut
into whole elements) and ``goal`` (for LogGOPSim and ATLAHS); ``formats``, the table of all formats.
A new format is one more line in that table.
"""

from forestcoll.schedule.export.formats import (
    FORMATS,
    Exported,
    ExportOptions,
    Format,
    asked_of,
    export,
    format_of,
    options_of,
)
from forestcoll.schedule.export.goal import GoalOptions
from forestcoll.schedule.export.msccl import MscclOptions, to_msccl
from forestcoll.schedule.export.mscclpp import MscclppOptions, to_mscclpp

__all__ = [
    "FORMATS",
    "ExportOptions",
    "Exported",
    "Format",
    "GoalOptions",
    "MscclOptions",
    "MscclppOptions",
    "asked_of",
    "export",
    "format_of",
    "options_of",
    "to_msccl",
    "to_mscclpp",
]
