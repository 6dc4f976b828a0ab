"""All-to-all optimum by linear programs and approximations, and schedules that attain it.

To read: ``demands``, ``linear_optimum``, ``closed_forms``; for large networks ``concurrent_flow``,
by ``dial_routing`` and ``garg_koenemann``; ``near_optimum`` chooses among them,
``path_schedule`` turns either result into a schedule.
"""
