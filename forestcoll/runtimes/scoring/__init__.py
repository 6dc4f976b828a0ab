"""Scoring of any algorithm file on a network, compared with the optimum.

To read: ``sent_data`` (what GPUs send to each other), ``least_hops`` (its paths), ``file_bounds``
(bounds on the rate, and the share of the bound), ``demand_slots`` (all-to-alls of any amounts),
``threadblock_rates`` (by machine) and ``threadblock_work`` (the busiest threadblock),
``other_tools/`` (files of other synthesizers), ``file_score``.
"""
