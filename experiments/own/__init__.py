"""Experiments of our own: files for ``forestcoll run``, and studies that need more than its points.

To read: ``times_over_bound`` (times of schedules for a size over the least possible time),
``times_figure`` (its picture).
"""
