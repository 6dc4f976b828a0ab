"""All-to-alls: the best known paths for equal parts and for any amounts, with their bound.

To read: ``best_flow`` chooses, ``attained`` is what it finds; ``two_tiers``, ``two_tier_flow`` and
``line_cuts`` for boxes and hubs, ``boxes`` for NICs behind PCIe; ``program_flow`` for other
networks, exact by ``whole_prices`` and ``path_schedule``, which rotates the paths of a source by
``rotated_paths``. Its program: ``near_optimum``, ``flow_problem``, ``linear_optimum``, which
``grids`` makes smaller, and ``concurrent_flow``, ``dial_routing``, ``garg_koenemann``.
``closed_forms`` are bounds, ``birkhoff`` decomposes amounts between boxes into matchings,
``multicast_bounds`` bounds chunks for several GPUs, ``bound_certificate`` writes a bound.
"""
