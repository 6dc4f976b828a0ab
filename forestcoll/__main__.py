"""Entry point of the ``forestcoll`` command, which Ctrl-C may interrupt even in imports."""

from __future__ import annotations

import gc
import os
import sys

from forestcoll.own_packages import prefer_ours
from forestcoll.solver.late_numpy import keep_parts_late

__all__ = ["main"]

# Garbage collections after so many allocations. Links, paths and fractions are many and hold no
# reference cycles; at Python's default the collector takes a tenth of a command's time.
_ALLOCATIONS = 500_000


def main() -> None:
    """Load the command line and run it; 130 if Ctrl-C comes first."""
    prefer_ours()
    keep_parts_late()
    # More threads of linear algebra take 0.1 s of CPU to start, and round sums in another order.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(_ALLOCATIONS, 20, 20)
    try:
        from forestcoll.cli import main as run  # slow, so inside the try

        run()
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted\n")
        sys.exit(130)
    finally:
        gc.freeze()  # the last collection at exit would look at every object, for nothing


if __name__ == "__main__":
    main()
