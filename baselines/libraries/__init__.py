"""Fixed patterns of communication libraries, laid over the network.

To read: ``ring``, ``nccl_tree``, ``nccl_nvls``; by steps ``direct``, ``recursive``, ``bruck`` and
``blueconnect``.
"""
