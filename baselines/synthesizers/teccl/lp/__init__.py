"""TE-CCL's linear program (lp) for fractional chunks without copies.

To read: ``flow_program`` (the rows for a number of epochs), ``lp_horizon`` (the fewest epochs),
``flow_schedule`` (paths of a flow, and an exact schedule).
"""
