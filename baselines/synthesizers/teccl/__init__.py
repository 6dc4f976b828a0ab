"""TE-CCL: schedules in epochs by integer programming, all-to-alls by linear programming.

To read: ``instance/`` (network and demand), ``milp/`` (with copies), ``lp/`` (without),
``a_star/`` (a few epochs at a time), ``cleaning``, ``conversion`` (to a schedule with a clock),
``demanded`` and ``splitting`` (schedules of demands, of several), ``task`` (a checked request),
``teccl`` (the method), ``tenants`` and ``tenant_text`` (several collectives at once) and
``staged_allreduce`` (an allreduce in the paper's stages).
"""
