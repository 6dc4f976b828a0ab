"""What all tests share."""

import sys

# jsonschema would compile grammars of internationalised addresses, which takes 1.5 s of CPU. No
# schema here has such a format.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
