"""Schedule files in JSON or npz; docs/formats/schedule.md describes the format.

To read: ``schedule_files`` (reads and writes any schedule), then ``binary`` (npz),
``bound_document``, ``plan_document`` and ``header``, which also do both. Writing:
``stepwise_document``. Reading: ``plain_data`` (bytes to dictionaries; ``edge_lines`` for trees),
``parsing`` with ``tree_parsing`` and ``stepwise_parsing``, and ``fields``, which checks the input.
"""

from forestcoll.schedule.files.schedule_files import read_schedule, write_schedule

__all__ = ["read_schedule", "write_schedule"]
