"""Bundles: runtime files for all sizes, exported from the schedules of ``forestcoll tune``.

To read: ``tuned_index`` (what is exported), ``size_ranges`` (sizes without a gap or overlap),
``bundle_index`` (the sizes of each file), ``bundle_check`` (files read back and executed),
``checkpoint`` (finished files of an unfinished bundle), ``runners_up`` (replacements where the best
schedule cannot be exported), ``bundling`` (the export), ``cli``.
"""
