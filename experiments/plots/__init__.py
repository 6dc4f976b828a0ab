"""Figures, drawn from rows alone.

Read ``figures`` (from rows to files), ``lines``, ``scatters``, ``maps``, ``bars``, ``cut_bounds``,
``breakdowns``, ``fault_costs``, ``best_networks`` (what is drawn; which kinds of figures there are,
``config.kinds`` says), ``panels`` (by cluster or topology), ``looks`` (of methods), ``losses``
(points without a result), ``marks`` (published values),
``drawing`` (style, axes, legend) and ``labels`` (beside marks). Imports ``published``,
``results``, ``config`` and ``measures``.
"""
