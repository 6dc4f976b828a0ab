"""Programs as algorithms of MSCCL."""

from forestcoll.schedule.export.msccl.exporter import MscclOptions, to_msccl

__all__ = ["MscclOptions", "to_msccl"]
