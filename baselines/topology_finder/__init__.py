"""Topology finder: which direct-connect network for N GPUs of degree d (Zhao et al., NSDI 2025).

To read: ``candidate`` (a construction and what it takes), ``base_networks`` and ``base_table``
(their times), ``predicted_expansions`` (times of larger networks), ``bottom_up_search`` (all
constructions), ``all_to_all`` (bounds on rates), ``workload`` (the time of sizes in bytes),
``finder`` (the front for one N and d), ``building`` (the chosen network and its verified schedule),
``degraded`` (one dead link), ``edge_swaps`` (local search), ``small_networks`` and
``small_groups`` (all networks of a kind, to compare).
"""
