"""Fast, size-limited reading of topology files, with line numbers in errors.

To read: ``whole_text`` (a file as text, within a limit), ``documents`` (YAML and JSON as plain
data), ``yaml_values`` (any YAML of plain values), ``yaml_lines`` (YAML with an entry a line,
without a YAML parser), ``units`` (400 Gb/s), ``topology_entries`` (the fields of a topology,
checked), ``shared_groups`` (common limits of links).
"""
