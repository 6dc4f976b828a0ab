"""Schedules for networks without switches.

To read: ``torus``, ``swing``, ``trivance``, ``tto`` (meshes), ``shifted_ring``, ``bfb/``;
all-to-alls: ``all_to_all_lp``.
"""
