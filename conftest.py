"""Settings of all tests: cheap collection of thousands of them, and processes that Ctrl-C ends."""

import gc
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestModule

# A shell's background jobs ignore Ctrl-C, and so would the processes that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

gc.disable()  # until all tests are collected: nothing that they are made of becomes garbage


def pytest_collection_finish() -> None:
    """Leave what was collected, some million objects, out of all garbage collections to come."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Iterator[Any]:
    """Look for doctests in the files with a prompt alone: to search a module takes long."""
    found = yield
    if file_path.suffix == ".py" and b">>>" not in file_path.read_bytes():
        return [one for one in found if not isinstance(one, DoctestModule)]
    return found
