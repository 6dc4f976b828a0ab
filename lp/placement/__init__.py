"""Placement: which GPUs form which process group.

To read: ``kinds`` (kinds of parallelism as axes of a grid), ``cut_times`` (fast lower bounds),
``checked_times`` (times of verified schedules), ``placement_search``, ``cli`` (``forestcoll
placement``).
"""
