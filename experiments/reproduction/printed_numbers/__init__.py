"""Printed numbers of the papers, beside those of the stored rows.

Read ``forestcoll_numbers``, ``bfb_numbers``, ``teccl_numbers`` and ``teccl_comparisons`` (rows),
``bfb_bounds`` (formulas), ``bfb_ratios`` (of large networks and of training).
"""
