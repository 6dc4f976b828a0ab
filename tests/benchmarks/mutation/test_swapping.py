"""Mutated code reaches every function object that was made of the original."""

import functools
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks.mutation.mutants import Mutants
from benchmarks.mutation.swapping import LiveFunctions, code_of, find_caches

TOY = """
import functools

@functools.lru_cache
def kept(a):
    return a + 1

class C:
    @property
    def two(self):
        return 1 + 1

    def made(self):
        def inner(a):
            return a * 3
        return inner
"""


@pytest.fixture
def toy(tmp_path: Path) -> ModuleType:
    path = tmp_path / "toy_of_swapping.py"
    path.write_text(TOY)
    spec = importlib.util.spec_from_file_location("toy_of_swapping", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def swap(toy: ModuleType, before: str, after: str) -> bool:
    """Put a mutant in, by the texts that it exchanges."""
    path = Path(str(toy.__file__))
    (mutant,) = (one for one in Mutants(TOY).all if (one.before, one.after) == (before, after))
    module = compile(Mutants(TOY).tree(mutant.number), str(path), "exec")
    return LiveFunctions({path}).swap(path, mutant.function, mutant.start, module)


def test_a_copy_of_a_function_is_mutated_too(toy: ModuleType) -> None:
    """Also behind a cache, which keeps what it knows until it is cleared."""
    mine = toy.kept
    assert mine(2) == 3
    assert swap(toy, "a + 1", "a - 1")
    assert mine(2) == 3
    assert toy.kept in find_caches()
    mine.cache_clear()
    assert mine(2) == 1


def test_properties_and_inner_functions_are_mutated(toy: ModuleType) -> None:
    """An inner function is made anew with each call of the outer one, whose code is exchanged."""
    one = toy.C()
    assert swap(toy, "1 + 1", "1 - 1")
    assert one.two == 0
    assert swap(toy, "a * 3", "a // 3")
    assert one.made()(7) == 2


def test_code_that_is_not_there_is_not_swapped(toy: ModuleType) -> None:
    """Neither a function of another name, nor one with another closure."""
    path = Path(str(toy.__file__))
    live = LiveFunctions({path})
    module = compile(TOY, str(path), "exec")
    assert not live.swap(path, "nothing", 1, module)
    assert code_of(module, "kept", 4) is not None
    assert code_of(module, "kept", 5) is None
    other = compile(TOY.replace("return 1 + 1", "return __class__"), str(path), "exec")
    assert not live.swap(path, "C.two", 9, other)


def test_caches_are_those_of_functools() -> None:
    @functools.lru_cache(maxsize=3)
    def held() -> int:
        return sys.maxsize

    assert held in find_caches()
