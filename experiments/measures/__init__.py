"""Measures of a point: their registry, and what they share.

Read ``measure`` (declaration of a measure), ``declared`` (all measures: to add one, add an entry
there, and nothing else), ``run_result`` (the input of measures), ``simulated`` (its simulations),
``measured`` (all measures of a schedule), ``bounds`` (the optimum of a row), ``borders`` (traffic
of GPUs and boxes), ``plane_shares`` (rate of merged and real planes), ``docs`` (the tables of
docs/experiments.md, written by ``page_marks``). All other packages of experiments import this one;
it imports none of them.
"""
