"""Fixed patterns of communication libraries, laid over the network.

Tree methods: ``ring``, ``nccl_tree``, ``nccl_nvls``. Step methods: ``direct``, ``recursive``,
``bruck``, ``pat``, ``bine``, ``blueconnect`` and ``hierarchical``.
"""
