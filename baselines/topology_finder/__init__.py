"""Topology finder: which direct-connect network for N GPUs of degree d (Zhao et al., NSDI 2025).

To read: ``candidate`` (a construction and what it takes), ``distances`` (its all-to-all bound),
``base_networks``, ``one_way_circulants``, ``base_distances``, ``base_table`` (stored times),
``predicted_expansions``, ``bottom_up_search`` (all constructions), ``all_to_all`` (bounds on
rates), ``workload`` (sizes in bytes), ``finder`` (the front), ``building`` (a chosen network and
its verified schedule), ``degraded`` (one dead link), ``edge_swaps`` (local search),
``small_networks`` and ``small_groups`` (all networks of a kind, to compare).
"""
