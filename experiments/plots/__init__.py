"""Figures, drawn from rows alone.

Read ``figures`` (from a kind and rows to files), ``lines``, ``maps`` (what is drawn), ``drawing``
and ``labels`` (how). Imports ``results``, ``config`` and ``measures``.
"""
