"""Schedules for networks without switches: ``torus``, ``shifted_ring``."""
