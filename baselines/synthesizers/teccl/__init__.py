"""TE-CCL: schedules in epochs by integer programming, all-to-alls by linear programming.

To read: ``instance/`` (network and demand), ``milp/`` (with copies), ``lp/`` (without),
``a_star/`` (a few epochs at a time), ``cleaning``, ``conversion`` (to a schedule with a clock),
``demanded`` (schedules of demands), ``task`` (a checked request), ``teccl`` (the method),
``tenants`` (several collectives at once) and ``tenant_text`` (tenants in text).
"""
