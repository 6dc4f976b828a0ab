"""Low trees: what throughput a height costs.

To read: ``hop_distances`` (how far GPUs are apart, so how low trees can be), ``height_bound`` (a
rate that no trees of a height exceed), ``low_trees`` (the native search for trees of a height),
``height_ladder`` (from the least height up, one search warmed by the other) and ``height_limit``
(schedules of every collective within a height); ``rate_by_height`` is what users call.
"""
