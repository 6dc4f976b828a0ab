"""Answers for one network and no YAML file.

``expected`` gives the best possible rates of a collective, within a ``time_limit``, and
``nccl_tests`` those of all its programs, ``demand_rates`` those of a demand; ``expected_cli`` is
the command. ``measured/`` compares a run of nccl-tests with them. ``tuning/`` finds the best
schedule at each size, and ``bundle/`` exports them. ``nccl_tuner/`` does the same for NCCL's own
algorithms. ``finding/`` finds a network, and ``iterations/`` models a training iteration.
"""
