"""What a file, whoever wrote it, is worth on a network.

To read: ``least_hops`` (the paths of its transfers), ``file_bounds`` (what nothing is above; with
``every_cut``), ``measurement`` (algbw and share), ``file_score`` (all of it, of MSCCL XML),
``peers/`` and ``peer_score`` (the same of what other synthesizers write).
"""
