"""Options that cannot be."""

import pytest

from forestcoll.errors import InvalidParameterError
from forestcoll.runtimes.msccl.exporter import MscclOptions


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"protocol": "simple"}, "the protocol is 'simple'; it must be one of Simple, LL, LL128"),
        ({"channels": 0}, "channels is 0; it must be 1 or more"),
        ({"instances": 33}, "33 instances of 1 channels each are more than the 32"),
        ({"min_bytes": 5, "max_bytes": 4}, "max_bytes is 4, less than min_bytes, 5"),
    ],
)
def test_options_are_checked(options: dict[str, object], told: str) -> None:
    with pytest.raises(InvalidParameterError, match=told):
        MscclOptions(**options)  # type: ignore[arg-type]
