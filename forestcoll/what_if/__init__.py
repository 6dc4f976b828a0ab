"""What if part of the network fails, or were better: exact answers, from cuts.

To read: ``symmetric_parts`` (links, NICs, GPUs and switches, those that are alike together),
``single_changes`` (what the failure of each costs, and what more of it brings), ``tightest_cuts``
(what binds next), ``replanning`` (a new schedule for a changed network) and
``tree_changes`` (what it changes).
"""
