"""Two schedules, of whatever kind: what differs.

To read: ``schedule_measures`` (what one is and takes), ``link_differences`` (what loads the links),
``shared_pieces`` (trees, transfers or paths that both have), ``schedule_diff`` (all of it, with
the networks) and ``diff_in_words`` (it for people and for machines).
"""
