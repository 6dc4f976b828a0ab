"""ForestColl's algorithm: from a network to trees that attain its optimum, one module a stage.

To read: ``pipeline``, which runs the stages in order and times them with a ``stopwatch``. The
stages pass on a ``problem``. They are ``optimality``, with ``bottleneck_cut`` (or ``fixed_k``, with
``violation`` and ``balance``; with ``any_network/`` where no cut proves it), ``tight_sets``,
``edge_splitting``, ``tree_packing``, ``assembly`` and ``path_recovery``. Each calls the native
stage of the same name. ``partition_bound`` bounds an allreduce of two forests. ``paper`` has the
paper's own algorithms for the same stages.
"""
