"""All-to-alls: the best known paths for equal parts and for any amounts, with their bound.

To read: ``best_flow`` chooses; ``two_tiers``, ``two_tier_flow`` and ``line_cuts`` for boxes and
hubs; ``flow_problem``, ``linear_optimum`` and ``whole_prices`` by a program, ``concurrent_flow``
with ``dial_routing`` and ``garg_koenemann`` for large networks; ``path_schedule`` turns their flows
into schedules; ``closed_forms`` are bounds by degree; ``near_optimum`` has rates without paths;
``birkhoff`` decomposes amounts between boxes into matchings; ``multicast_bounds`` bounds demands
whose chunks several GPUs need.
"""
