"""Scoring of any algorithm file on a network, compared with the optimum.

To read: ``least_hops`` (the paths of its transfers), ``file_bounds`` (bounds on the rate, and the
share of the bound), ``demand_slots`` (all-to-alls of any amounts), ``other_tools/`` (files of
other synthesizers), ``file_score``.
"""
