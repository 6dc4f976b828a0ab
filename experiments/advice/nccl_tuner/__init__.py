"""Tables for NCCL's example tuner plugin: which built-in algorithm is nearest to the optimum.

Read ``nccl_costs`` (latencies and efficiencies of NCCL's algorithms and protocols), ``built_in``
(these algorithms in simulation), ``tuner_table`` (the best of them at each size), ``tuner_file``
(the plugin's file), ``tuner_cli`` (the command).
"""
