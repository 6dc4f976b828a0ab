"""Proof of certificates from their own numbers.

To read: ``certificate`` (with ``priced_bounds``), ``allreduce_certificate``, and ``tree_loads``,
which both use; ``demand_prices`` (all-to-alls) and ``least_times`` (bounds on time).
"""
