"""What all tests share."""

import gc
import sys

from tests.command_line import build_commands_once

# jsonschema would compile grammars of internationalised addresses, which takes 1.5 s of CPU. No
# schema here has such a format.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

build_commands_once()


def pytest_collection_finish() -> None:
    """Spare garbage collections the modules and 20,000 tests, which live to the end anyway."""
    gc.collect()
    gc.freeze()
