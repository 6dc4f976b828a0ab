"""Schedules for networks without switches.

To read: ``torus``, ``shifted_ring``, ``bfb/``; all-to-alls: ``all_to_all_lp``.
"""
