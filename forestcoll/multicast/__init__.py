"""Switches that copy and add.

To read: ``pruning`` (what GPUs sent in vain is dropped from the trees), ``path_choice`` (which tree
takes which path, so that much is dropped), ``copying`` (such switches as nodes of the trees) and
``in_network`` (schedules of every collective made so).
"""
