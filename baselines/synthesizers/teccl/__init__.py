"""TE-CCL: schedules in epochs by integer programming, all-to-alls by linear programming.

To read: ``instance/`` (what is given), ``milp/`` (with copies), ``lp/`` (without),
``a_star/`` (a few epochs at a time), ``cleaning``, ``conversion`` (to a schedule with a clock),
``task`` (what is asked for), ``teccl`` (the method), ``paper_allreduce``, ``sharing/``
(several tenants).
"""
