"""Scoring of any algorithm file on a network, compared with the optimum.

To read: ``least_hops`` (the paths of its transfers), ``file_bounds`` (bounds on the rate; with
``every_cut``), ``measurement`` (algbw and share of the bound), ``file_score`` (for MSCCL XML),
``peers/`` and ``peer_score`` (for files of other synthesizers).
"""
