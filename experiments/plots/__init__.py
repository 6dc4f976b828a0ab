"""Figures, drawn from rows alone.

Read ``figures`` (from rows to files), ``lines``, ``scatters`` and ``maps`` (what is drawn; which
kinds of figures there are, ``config.kinds`` says), ``panels`` (by cluster or topology), ``drawing``
(style, axes, letters, legend) and ``labels`` (beside marks). Imports ``published``, ``results``,
``config`` and ``measures``.
"""
