"""Schedules as files that others run or simulate, all from the lowered program.

To read: ``partition`` (data cut into whole elements), ``goal`` (for LogGOPSim and ATLAHS).
"""
