"""The all-to-all optimum, and schedules that attain it.

To read: ``demands``, ``linear_optimum``, ``closed_forms`` (in closed form); for large networks
``concurrent_flow``, by ``dial_routing`` and ``garg_koenemann``; ``path_schedule`` makes either one
a schedule.
"""
