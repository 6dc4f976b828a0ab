"""How topology files are read: quickly, within bounds, each fault with its line.

To read: ``whole_text`` (a file as text, unless it is too large), ``yaml_values`` (any YAML of plain
values), ``yaml_lines`` (YAML with an entry a line, without a YAML parser), ``units`` (400 Gb/s),
``topology_entries`` (the fields of a topology, checked), ``shared_groups`` (common limits of
links).
"""
