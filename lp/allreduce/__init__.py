"""Allreduce optimum by linear programs, for networks where the core's cuts leave a gap.

To read: ``reference`` (as the paper states it) and ``result``; then the fast method:
``cutting_planes`` over ``orbit_program``, ``dual`` (an exact bound from its prices), ``shares`` and
``rounding`` (an exact schedule from its flows); for multicast switches ``spans`` (the switches that
trees reach), ``mixture`` (the program of such trees) and ``mixture_rounding``; ``best``, which the
core calls.
``single_root`` is the optimum over one root.
"""
