"""Hypothesis profile for mutants: deterministic examples, and no shrinking.

A pytest plugin, for ``session`` and ``restart``.
"""

from __future__ import annotations

import pytest

__all__ = ["Profile"]


class Profile:
    """Names the profile that ``--hypothesis-profile=mutation`` asks for."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self) -> None:
        """Register it before the plugin of Hypothesis loads it, and import nothing earlier."""
        from hypothesis import HealthCheck, Phase, settings

        settings.register_profile(
            "mutation",
            database=None,
            deadline=None,
            derandomize=True,
            phases=(Phase.explicit, Phase.generate),
            suppress_health_check=list(HealthCheck),
        )
