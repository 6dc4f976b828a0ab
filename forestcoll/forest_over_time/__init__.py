"""Forests over time: trees of unlike depths with unequal shares, for a size of the data.

To read: ``timed_forests`` (the public class, all collectives), ``one_phase`` (one collective of one
phase), ``time_minimum`` (the search for trees), ``rate_program`` (rates of given trees),
``slot_search``, ``slot_program`` and ``priced_slots`` (trees whose hops wait), ``priced_hops`` and
``priced_trees`` (new trees by prices), ``timed_trees`` (trees, their latency and loads),
``rotations`` (symmetries), ``whole_shares`` and ``written_forest`` (from amounts to a forest),
``planned_forest`` (its plan), ``repeated_time``, ``slot_times`` and ``hop_pieces`` (exact times),
``planned_simulation`` (times of a schedule that has a plan), ``common_slots`` (allreduces).
"""
