"""Where the command starts, whose imports Ctrl-C may interrupt too."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Load the command line and run it; 130 if Ctrl-C comes first."""
    try:
        from forestcoll.cli import main as run  # takes a while

        run()
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
