"""What all tests share."""

import os
import sys

import pytest
from hypothesis import HealthCheck, settings

from tests.command_line import build_commands_once
from tests.random_topologies import ALL_ROUNDS
from tests.selection.first_rows import leave_later_rows_slow
from tests.selection.value_cover import leave_others_slow

# jsonschema would compile grammars of internationalised addresses, which takes 1.5 s of CPU. No
# schema here has such a format.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

# The same examples at every run, but of `make test-all`, however slow the machine is.
settings.register_profile(
    "toolkit",
    deadline=None,
    derandomize=not os.environ.get(ALL_ROUNDS),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("toolkit")

build_commands_once()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests as slow before those are taken out."""
    leave_others_slow(items)  # type: ignore[arg-type]
    leave_later_rows_slow(items)  # type: ignore[arg-type]
