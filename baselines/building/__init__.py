"""Conversion of what a baseline decides into schedules: steps, trees and phases.

To read: ``phases`` (reductions and allreduces out of forests that spread data), ``composing`` (the
same of steps, routed), ``grid_rings``, ``equal_trees`` and ``binary_trees``, ``fastest``, the
choice among variants, ``ticks``; ``loopback`` (what NVLS sends through a switch besides) and
``over_planes`` (what was made on merged switches, spread over the switches themselves).
"""
