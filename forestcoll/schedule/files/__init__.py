"""Schedule files in JSON or npz; docs/schedule-format.md describes the format.

To read: ``schedule_files`` (reads and writes any schedule), then ``binary`` (npz) and
``bound_document``, which also do both. Writing: ``header``, ``stepwise_document``. Reading:
``plain_data`` (bytes to dictionaries; ``edge_lines`` for trees), ``parsing`` with
``header_parsing`` and ``tree_parsing``, ``stepwise_parsing`` (to schedules), and ``fields`` and
``ranges``, which check the input.
"""

from forestcoll.schedule.files.schedule_files import read_schedule, write_schedule

__all__ = ["read_schedule", "write_schedule"]
