"""What all tests share."""

import sys

from tests.command_line import build_commands_once

# jsonschema would compile grammars of internationalised addresses, which takes 1.5 s of CPU. No
# schema here has such a format.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

build_commands_once()
