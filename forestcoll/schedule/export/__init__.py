"""Programs in the formats of runtimes and simulators.

To read: ``msccl/`` (the algorithms of MSCCL); ``partition`` (data cut into whole elements) and
``goal`` (for LogGOPSim and ATLAHS); ``formats``, the table of all, in which a further format is one
line.
"""

from forestcoll.schedule.export.formats import FORMATS, Exported, Format, export
from forestcoll.schedule.export.msccl import MscclOptions, to_msccl

__all__ = ["FORMATS", "Exported", "Format", "MscclOptions", "export", "to_msccl"]
