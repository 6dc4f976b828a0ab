"""Proof of forests: trees span, and link loads are as claimed.

To read: ``forest`` (one phase, whatever its form), then ``spanning`` (explicit trees), ``sums``
(those of reductions), ``factored`` (trees not written out; ``set_family`` has their items,
``set_edges`` their loads, ``rotated_packing`` trees kept with their rotations), ``multicast``
(physical trees over multicast switches), ``optimum`` (the bound that is claimed), ``plan_times``
(times at a size), ``allreduce`` (two phases) and ``plans_of_phases`` (their times together).
"""
