"""Bundles: runtime files for all sizes, exported from the schedules of ``forestcoll tune``.

To read: ``tuned_index`` (what is exported), ``size_ranges`` (sizes without a gap or overlap),
``runtime_readers`` (files read back and executed), ``bundle_index`` (which file is for which
sizes), ``checkpoint`` (what is done, until all is), ``runners_up`` (where the best does not fit the
runtime), ``bundling`` (all of it), ``bundle_check`` (whether a bundle is whole), ``cli``.
"""
