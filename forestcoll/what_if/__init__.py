"""Exact effects of failures and upgrades, the tightest cuts, and replanning after a change.

To read: ``symmetric_parts`` (links, NICs, GPUs and switches, grouped by symmetry),
``single_changes`` (the cost of each failure and the gain of each upgrade), ``tightest_cuts``
(the bottleneck and the cuts behind it), ``replanning`` (a new schedule for a changed network) and
``tree_changes`` (how it differs).
"""
