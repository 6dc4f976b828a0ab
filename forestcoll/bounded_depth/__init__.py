"""Depth-bounded trees: the throughput that each tree depth allows.

To read: ``hop_distances`` (eccentricities, the least depth of trees), ``depth_bound`` (an upper
bound on the rate of trees of a depth), ``depth_bounded_trees`` (the native search for trees of a
depth), ``depth_ladder`` (searches from the least depth up, each warm-started by the one before) and
``depth_limit`` (schedules of every collective within a depth, and the rate of each depth).
"""
