"""Where the command starts, whose imports Ctrl-C may interrupt too."""

from __future__ import annotations

import sys

from forestcoll.own_packages import prefer_ours

__all__ = ["main"]


def main() -> None:
    """Load the command line and run it; 130 if Ctrl-C comes first."""
    prefer_ours()
    try:
        from forestcoll.cli import main as run  # takes a while

        run()
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
