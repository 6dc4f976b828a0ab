import sys
from pathlib import Path
from typing import Any, cast

import pytest

from baselines.interface.own_function import called, is_reference, own_method, own_name
from forestcoll.errors import MethodError, UnknownMethodError, UnsupportedError
from forestcoll.schedule import verify

OWN = """
import baselines.libraries.ring as ring

def generate(topology, collective="allgather", *, rings=1):
    return ring.generate(topology, collective, rings=rings)

def plain(topology, *, rings=1):
    return ring.generate(topology, "allgather", rings=rings)

def summed(topology, collective="allreduce"):
    return ring.generate(topology, collective)

def broken(topology):
    return {}["key"]

constant = 3
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module in the current folder, which is on no search path."""
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine_of_a_reader.py").write_text(OWN)
    monkeypatch.delitem(sys.modules, "mine_of_a_reader", raising=False)
    return "mine_of_a_reader"


@pytest.mark.parametrize("function", ["generate", "plain"])
def test_a_function_is_a_method_with_its_parameters(own: str, function: str) -> None:
    """Whether it takes a collective or not."""
    method = own_method(f"{own}:{function}")
    assert method.name == f"{own}:{function}"
    assert method.parameters == ("rings",)
    made = method.run("ring:nodes=4", "allgather", {"rings": 2})
    assert verify(made).collective == "allgather"
    assert made != method.run("ring:nodes=4", "allgather", {"rings": 1})


def test_the_default_collective_is_that_of_the_function(own: str) -> None:
    """Without a parameter of that name it is the allgather."""
    assert own_method(f"{own}:summed").run("ring:nodes=4").collective == "allreduce"
    assert own_method(f"{own}:plain").run("ring:nodes=4").collective == "allgather"


def test_an_exception_becomes_an_error_with_file_and_line(own: str) -> None:
    """`broken` returns in line 14 of the file; errors of the toolkit stay as they are."""
    with pytest.raises(
        MethodError, match=r"raised KeyError: 'key' \(mine_of_a_reader.py, line 14\)"
    ):
        own_method(f"{own}:broken").run("ring:nodes=4")
    with pytest.raises(UnsupportedError):
        own_method(f"{own}:generate").run("ring:nodes=4", "all-to-all")


def test_a_function_in_c_has_no_line() -> None:
    with pytest.raises(MethodError, match=r"raised TypeError: .* no len\(\)$"):
        called("length", cast("Any", len))(3, "allgather")


def test_the_collective_is_passed_on(own: str) -> None:
    assert own_method(f"{own}:generate").run("ring:nodes=4", "allreduce").collective == "allreduce"


@pytest.mark.parametrize(
    ("function", "message"),
    [(":generat", "did you mean 'generate'"), (":constant", "has no function 'constant'")],
)
def test_a_missing_function_is_named(own: str, function: str, message: str) -> None:
    with pytest.raises(UnknownMethodError, match=message):
        own_method(own + function)


def test_a_missing_module_is_named(own: str) -> None:
    with pytest.raises(UnknownMethodError, match="no module 'no_such_module'; run from its folder"):
        own_method("no_such_module:generate")
    Path("needs_more_of_a_reader.py").write_text("import no_such_module")
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        own_method("needs_more_of_a_reader:generate")


def test_names(own: str) -> None:
    assert [is_reference(one) for one in ("a:b", "ring", "a:", ":b")] == [True, False, False, False]
    method = own_method(f"{own}:generate")
    assert own_name(method.generate) == f"{own}:generate"
    assert own_name(own_method(f"{own}:plain").generate) == "plain"
