"""Proof of certificates from their own numbers.

To read: ``certificate``, ``allreduce_certificate``, and ``tree_loads``, which both use.
"""
