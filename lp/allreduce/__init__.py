"""The allreduce optimum: a program where the core's cuts leave a gap.

To read: ``reference`` (as the paper states it) and ``result``; then what is fast:
``cutting_planes`` over ``orbit_program``, ``dual`` (an exact bound from its prices), ``shares`` and
``rounding`` (an exact schedule from its flows); where switches copy ``spans`` (which of them trees
reach), ``mixture`` (the program of such trees) and ``mixture_rounding``; ``best``, which the core
calls.
``single_root`` is the optimum over one root.
"""
