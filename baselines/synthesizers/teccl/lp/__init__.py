"""TE-CCL's linear program (lp) for fractional chunks without copies.

To read: ``flow_program`` (the rows for a number of epochs), ``lp_horizon`` (the fewest epochs),
``flow_paths`` (the ways of a flow), ``flow_schedule`` (to an exact schedule).
"""
