"""Commands on models of training: what an iteration costs, and fits to measured times.

To read: ``iteration_cli`` with ``timeline_figure``; ``fit_cli``.
"""
