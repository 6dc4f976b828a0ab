"""Exploring cuts in Jupyter.

To read: ``compared_cut`` (a chosen cut compared with the tightest ones, as a table and a picture)
and ``cut_explorer`` (the same with widgets for the network and the cut).
"""
