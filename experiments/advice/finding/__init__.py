"""``forestcoll topology find``: a network for N GPUs of degree d, with its schedule.

To read: ``front_entries`` (the front with its times and bounds), ``front_figure`` (a picture),
``find_cli`` (the command); ``best_by_size`` (figure 15 of the paper).
"""
