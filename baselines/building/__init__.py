"""Conversion of what a baseline decides into schedules: steps, trees and phases.

Read ``phases`` (reductions and allreduces from out-trees), ``composing`` (the same for routed
steps), ``grid_rings``, ``equal_trees`` and ``binary_trees``, ``fastest`` (choice among variants),
``ticks`` (whole-number times), ``loopback`` (extra traffic of NVLS through a switch) and
``over_planes`` (schedules on merged switches, spread over the real ones).
"""
