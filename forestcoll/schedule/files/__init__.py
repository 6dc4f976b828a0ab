"""Schedules in files, JSON or npz; docs/schedule-format.md is the format.

To read: ``schedule_files`` (both ways, any schedule); also both ways, ``binary`` (npz) and
``bound_document``. Writing: ``header``, ``stepwise_document``. Reading:
``plain_data`` (bytes to dictionaries; ``edge_lines`` for trees), ``parsing`` with
``header_parsing`` and ``tree_parsing``, ``stepwise_parsing`` (to schedules), and ``fields`` and
``ranges``, which check what is read.
"""

from forestcoll.schedule.files.schedule_files import read_schedule, write_schedule

__all__ = ["read_schedule", "write_schedule"]
