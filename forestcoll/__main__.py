"""Where the command starts, whose imports Ctrl-C may interrupt too."""

from __future__ import annotations

import gc
import sys

from forestcoll.own_packages import prefer_ours

__all__ = ["main"]

# Links, paths and fractions hold no cycles, but are many: by default, looking for cycles among
# them takes a tenth of a command.
_ALLOCATIONS = 500_000


def main() -> None:
    """Load the command line and run it; 130 if Ctrl-C comes first."""
    prefer_ours()
    gc.set_threshold(_ALLOCATIONS, 20, 20)
    try:
        from forestcoll.cli import main as run  # takes a while

        run()
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
