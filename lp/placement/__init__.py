"""Placement: which GPUs form which process group.

To read: ``parallel_kinds`` (axes of a grid of ranks), ``cut_times`` (fast lower bounds),
``checked_times`` (times of verified schedules), ``placement_bound`` (over all placements),
``placement_search``, ``cli`` (``forestcoll placement``).
"""
