"""Fastest allreduce: both phases of the core, or a linear program where their cuts leave a gap.

To read: ``collective_schedule`` (from a request to its schedule), ``best_allreduce`` (the
combination if it is proved optimal, else the faster of it and another), ``orientation`` (one by a
max-flow, where the cuts around single GPUs bind), ``allreduce_program`` (the linear program within
a time limit). It solves ``orbit_program`` by ``cutting_planes``, with a ``result``; ``dual`` reads
an exact bound from its prices; ``shares`` and ``rounding`` make an exact schedule.
:mod:`forestcoll.in_network` has schedules for multicast switches.
"""
