"""Comparison of two schedules of any kind.

To read: ``schedule_measures`` (figures of one schedule), ``shared_pieces`` (trees, transfers or
paths in both), ``schedule_diff`` (the whole comparison, with the networks) and ``diff_in_words``
(its output for people and for machines).
"""
