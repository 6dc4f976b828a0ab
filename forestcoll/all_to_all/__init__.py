"""All-to-all optimum by linear programs and approximations, and schedules that attain it.

To read: ``flow_problem``, ``linear_optimum``, ``closed_forms``; for large networks
``concurrent_flow``, by ``dial_routing`` and ``garg_koenemann``; ``path_schedule`` turns either
result into a schedule.
"""
