"""How a spoilt forest is refused."""

import pytest

from forestcoll.errors import VerificationError
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.verification.dispatch import verify


def rejected(spoiled: Forest) -> str:
    """Verify, which must fail in one line."""
    with pytest.raises(VerificationError) as caught:
        verify(spoiled)
    assert caught.value.exit_code == 1
    message = str(caught.value)
    assert "\n" not in message
    return message
