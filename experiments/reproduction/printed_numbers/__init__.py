"""Printed numbers of the papers, beside those of the stored rows.

Read ``forestcoll_numbers``, ``bfb_numbers``, ``teccl_numbers`` and ``teccl_peers`` (from rows),
``bfb_bounds`` (by formulas), ``bfb_ratios`` (of large networks and of training).
"""
