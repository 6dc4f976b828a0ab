"""From a network to trees that attain its optimum: one module a stage, in the order they run.

To read: ``pipeline``, which names the stages in order, with a ``stopwatch``; ``problem``, which
they pass on; then ``optimality`` (or ``fixed_k``, with ``violation`` and ``balance``; with
``any_network/`` where no cut proves the optimum),
``tight_sets``, ``edge_splitting``, ``tree_packing``, ``assembly`` and ``path_recovery``. Each calls
the native stage of its name. ``best_allreduce`` and ``partition_bound`` put two forests together
and bound what came of it; ``paper`` has the paper's own algorithms for the same stages.
"""
