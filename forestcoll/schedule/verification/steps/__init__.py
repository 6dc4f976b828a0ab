"""Proof of step schedules: senders have the data, it arrives once, and it fits the links.

To read: ``steps``, which names the checks in their order: ``step_arrays`` and ``transfers`` (form),
``pieces`` (intervals on lines), ``copies`` or ``one_way`` or ``contributions`` (delivery and sums),
``switches``, then time: ``loads`` of the links (pipelined, in steps), ``clock`` and ``rates``.
"""
