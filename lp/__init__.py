"""Linear programs: independent oracles and certificates for the exact core.

The names are listed in ``__init__.pyi`` and loaded when they are first asked for: the modelling
language takes seconds to import, and the command line lists this package's commands without it.
"""

from __future__ import annotations

from forestcoll.lazy_loading import attach

__getattr__, __dir__ = attach(__name__)
