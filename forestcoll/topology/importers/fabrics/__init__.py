"""Importers of files that describe the network between machines.

To read: InfiniBand: ``infiniband_rates``, ``infiniband_fabric`` (cables seen from both ends) and
``infiniband_listing`` (ibnetdiscover). Trees without bandwidths: ``hostlist``, ``switch_tree``,
``slurm_tree`` and ``topograph_model``. Ethernet: ``sonic_links``.
"""
