"""Answers for one network and no YAML file.

``expected`` gives the best possible rates of nccl-tests, within a ``time_limit``; ``expected_cli``
is its command. ``tuning/`` finds the best schedule at each size, and ``bundle/`` exports them.
``finding/`` finds a network, and ``iterations/`` tells what an iteration of training costs.
"""
