"""Schedules for networks without switches.

To read: ``torus``, ``tto`` (meshes), ``shifted_ring``, ``bfb/``; all-to-alls: ``all_to_all_lp``.
"""
