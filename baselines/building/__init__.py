"""Conversion of what a baseline decides into schedules: steps, trees and phases.

Read ``composing`` (routed steps, reductions, allreduces, choice of the fastest variant),
``demanded_chunks`` (demands and their chunks), ``grid_rings``, ``ring_sums``, ``peer_rounds``,
``equal_trees`` and ``binary_trees``, ``ticks`` (whole-number times) and ``over_planes`` (schedules
on merged switches, spread over the real ones).
"""
