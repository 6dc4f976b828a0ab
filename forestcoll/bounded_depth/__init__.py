"""Low trees: what throughput a depth costs.

To read: ``hop_distances`` (how far GPUs are apart, so how low trees can be), ``depth_bound`` (a
rate that no trees of a depth exceed), ``depth_bounded_trees`` (the native search for trees of a
depth), ``depth_ladder`` (from the least depth up, one search warmed by the other) and
``depth_limit`` (schedules of every collective within a depth); ``rate_by_depth`` is what users
call.
"""
