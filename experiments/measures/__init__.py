"""Measures of a point: their registry, and what they share.

Read ``measure`` (declaration of a measure), ``declared`` (all measures: to add one, add an entry
there, and nothing else), ``run_result`` (the input and the values of measures), ``simulated``
(simulations), ``bounds`` (the optimum of a row), ``borders`` (traffic of GPUs and boxes),
``plane_shares`` (rate of merged and real planes), ``docs`` (tables in docs pages). All other
packages of experiments import this one; it imports none of them.
"""
