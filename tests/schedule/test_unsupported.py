"""Error for arguments of a type that an operation does not support."""

import pytest

from forestcoll.errors import UnsupportedError
from forestcoll.schedule.unsupported import not_taken


@pytest.mark.parametrize(
    ("found", "takes", "message"),
    [
        (3, "a schedule", "unsupported: draw takes a schedule, not int"),
        (int, "trees", "unsupported: draw takes trees, not type"),
        (None, "a forest or two", "unsupported: draw takes a forest or two, not NoneType"),
    ],
)
def test_messages_name_operation_and_types(found: object, takes: str, message: str) -> None:
    """The value itself is not shown: it may be large."""
    error = not_taken("draw", found, takes)
    assert isinstance(error, UnsupportedError)
    assert str(error) == message
    assert error.exit_code == 2
