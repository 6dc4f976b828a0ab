"""Work that ends when its time is up."""

import signal
import threading
import time

import pytest

from experiments.advice.time_limit import time_limit
from forestcoll.errors import TimeLimitError


def test_a_loop_without_a_limit_of_its_own_ends() -> None:
    began = time.monotonic()

    def endless() -> None:
        while time.monotonic() < began + 20:
            pass

    with pytest.raises(TimeLimitError, match=r"0\.05 s was reached"), time_limit(0.05):
        endless()
    assert time.monotonic() < began + 10


def test_work_that_goes_on_after_the_error_is_stopped_again() -> None:
    """As the allreduce program does, which then has no schedule, but a bound."""
    began = time.monotonic()
    caught: list[str] = []

    def endless() -> None:
        while time.monotonic() < began + 20:
            pass

    def resumed() -> None:
        try:
            endless()
        except TimeLimitError as error:
            caught.append(str(error))
        endless()

    with pytest.raises(TimeLimitError, match=r"0\.05 s was reached"), time_limit(0.05):
        resumed()
    assert len(caught) == 1
    assert time.monotonic() < began + 10
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_work_within_the_limit_leaves_alarms_unchanged() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with time_limit(30):
        pass
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_no_time_is_at_once() -> None:
    with pytest.raises(TimeLimitError, match="no time is left"), time_limit(0):
        pytest.fail("this must not run")


def test_another_thread_has_no_alarm() -> None:
    done: list[bool] = []

    def work() -> None:
        with time_limit(0.01):
            time.sleep(0.1)
        done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]
