"""Measures of a point: their registry, and what they share.

Read ``measure`` (what a measure is), ``declared`` (every one of them: to add one, add an entry
there, and nothing else), ``run_result`` (a schedule as measures see it), ``simulated`` (its
simulations), ``measured`` (all of its measures), ``bounds`` (the optimum of a row), ``borders``
(what GPUs and boxes need), ``plane_shares`` (whether merged planes have the rate of the real ones),
``docs`` (the table of docs/experiments.md, put there by ``page_marks``). Imported by all other
packages of experiments; imports none of them.
"""
