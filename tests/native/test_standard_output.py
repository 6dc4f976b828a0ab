"""What solvers print is kept out of what is piped on."""

import os
import sys

import pytest

from forestcoll.native.standard_output import printed_as_errors
from forestcoll.solver.backends import highs
from forestcoll.solver.solve import solve
from tests.solver.programs import settings, small


def test_native_output_is_redirected_to_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    """What Python held back before it goes to where it was meant to, as does what comes after."""
    sys.stdout.write("before ")
    with printed_as_errors():
        os.write(1, b"a line of the solver's")
    sys.stdout.write("after")
    assert capfd.readouterr() == ("before after", "a line of the solver's")


def test_an_error_leaves_the_output_as_it_was(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError), printed_as_errors():
        raise ZeroDivisionError
    os.write(1, b"after")
    assert capfd.readouterr() == ("after", "")


def test_quiet_highs(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    class Talking(highs.highspy.Highs):
        def run(self):
            os.write(1, b"tmpSolver.run();")
            return super().run()

    monkeypatch.setattr(highs.highspy, "Highs", Talking)
    assert solve(small(), settings()).objective == pytest.approx(8 / 3)
    assert capfd.readouterr() == ("", "tmpSolver.run();")


def test_a_closed_output_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with printed_as_errors():
        pass
