"""Exploring cuts in Jupyter.

To read: ``compared_cut`` (one's own cut beside the tightest ones, as a table and a picture) and
``cut_explorer`` (the same with widgets for the network and the cut).
"""
