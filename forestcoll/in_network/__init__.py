"""Switches that copy and add.

To read: ``pruning`` (what GPUs sent in vain is dropped from the trees), ``path_choice`` (which tree
takes which path, so that much is dropped), ``multicast_nodes`` (such switches as nodes of the
trees), ``mixing`` (trees that pass them and trees that do not as one forest), ``numbering``
(distinct walks without sorting), ``plane_trees`` (trees over merged planes laid over the real ones)
and ``collectives`` (schedules of every collective made so).
"""
