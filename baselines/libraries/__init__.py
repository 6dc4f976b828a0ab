"""Fixed patterns of communication libraries, laid over the network.

Tree methods: ``ring``, ``nccl_tree``, ``nccl_nvls``, ``nccl_collnet``. Step methods: ``direct``,
``recursive``, ``bruck``, ``pat``, ``bine``, ``blueconnect``, ``hierarchical`` and ``sum_exchange``.
"""
