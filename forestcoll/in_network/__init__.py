"""In-network multicast and reduction: schedules for switches that multicast and reduce.

To read: ``pruning`` (drops redundant traffic from trees), ``path_choice`` (assigns trees to paths,
so that much is dropped), ``multicast_nodes`` (multicast switches as nodes of trees), ``star_trees``
(broadcasts of one hop), ``mixing`` (several forests as one), ``numbering`` (distinct walks without
sorting), ``plane_trees`` (trees of merged planes, distributed over the real ones). An allreduce
program: ``multicast_program``, with ``spans`` (the switches that trees reach), ``mixture_program``
(shares of such trees) and ``mixture_rounding``. Last ``collectives`` (of every collective).
"""
