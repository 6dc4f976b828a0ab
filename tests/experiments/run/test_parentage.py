"""Exit codes of children, waited for or not."""

import os

from experiments.run.parentage import reap


def test_reap_waits_for_children_that_end_soon() -> None:
    """A child that has not ended yet: not there at once, its exit code when it was waited for."""
    child = os.posix_spawn("/bin/sleep", ["sleep", "0.3"], os.environ)
    assert child not in reap()
    # Children that other tests left are waited for as well, to the end.
    assert reap(3)[child] == 0
    assert child not in reap(0.1)
