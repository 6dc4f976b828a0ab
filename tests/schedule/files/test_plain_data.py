"""JSON read quickly is JSON read in full: the same data, and the same words where it is wrong."""

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.errors import InvalidScheduleError
from forestcoll.schedule import read_schedule, write_schedule
from forestcoll.schedule.files import plain_data as reading
from forestcoll.schedule.files.plain_data import Decimal, full_document, read_document
from tests.schedule.made.hand import leaves4

NUMBERS = ["0", "-0", "1.0", "-0.0", "1e5", "1E+400", "0.1", "12.50", "1" * 400, str(2**64), "-7"]
WORDS = ["true", "null", '"\\u00e4"', '"\\ud83d\\ude00"', '"\\/ \\n"', '"é"', "[]", "{}", '"1.0"']
ODD = ["NaN", "-Infinity", '"\\ud800"', "[" * 300 + "]" * 300]
"""That Python reads and the quick parser does not."""
FAULTS = [
    *("", "01", "+1", ".5", "1.", "1e", "tru", "nan", "[1,]", '{"a":1,}', "1 x", '"\\x"', '"\t"'),
    *(
        '{"a": 1, "a": 2}',
        '{"a": 1,\n "\\u0061": 2}',
        "9" * 5000,
        "[" * 100_000,
        "\n\n[1\n,",
        "\x00",
    ),
]


def typed(value: Any) -> Any:
    """Return data with the types of everything in it."""
    if isinstance(value, dict):
        return [(key, typed(inner)) for key, inner in value.items()]
    if isinstance(value, list):
        return [typed(inner) for inner in value]
    return type(value), value


def report(read: Callable[[], object]) -> str:
    with pytest.raises(InvalidScheduleError) as caught:
        read()
    return str(caught.value)


@pytest.mark.parametrize("text", [*NUMBERS, *WORDS, *ODD])
def test_values_are_the_same_to_their_types(text: str) -> None:
    """A number with a point is its text, to the last digit."""
    for whole in (text, f'{{"a": [1, {text}], "b": {{"c": {text}}}}}', f"\ufeff [{text}]\r\n"):
        full = full_document(whole.removeprefix("\ufeff"))
        assert typed(read_document(whole.encode(), lambda data: data)) == typed(full)


# In the fields of trees a number with a point, which is valid nowhere there, need not be the same.
KEYS = st.text().filter(lambda key: key not in reading._MANY)


@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(NUMBERS),
        lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner),
    )
)
def test_any_data_is_the_same(value: Any) -> None:
    def text(value: Any) -> str:
        if isinstance(value, list):
            return f"[{', '.join(map(text, value))}]"
        if isinstance(value, dict):
            return (
                f"{{{', '.join(f'{reading.json.dumps(k)}: {text(v)}' for k, v in value.items())}}}"
            )
        return value if value in NUMBERS else reading.json.dumps(value)

    content = text(value).encode()
    quick = read_document(content, lambda data: data)
    assert typed(quick) == typed(full_document(content.decode()))


@pytest.mark.parametrize("text", FAULTS)
def test_faults_are_those_of_the_full_reader(text: str) -> None:
    assert report(lambda: read_document(text.encode(), lambda data: data)) == report(
        lambda: full_document(text)
    )


def test_numbers_with_a_point_in_trees_are_reported_as_they_are_written(tmp_path: Path) -> None:
    """The quick parser leaves them; the message comes from the full one."""
    path = tmp_path / "schedule.json"
    write_schedule(leaves4(), path)
    text = path.read_text()
    path.write_text(text.replace('{"root": 0,', '{"root": 0.50,', 1))
    message = "trees[0].root is 0.50; it must be an integer"
    assert report(lambda: read_schedule(path)) == f"{path}: {message}"


def test_a_right_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(text: str) -> object:
        raise AssertionError("read in full")

    write_schedule(leaves4(), tmp_path / "schedule.json")
    monkeypatch.setattr(reading, "full_document", never)
    assert read_schedule(tmp_path / "schedule.json") == leaves4()


def test_the_collector_is_as_it_was(tmp_path: Path) -> None:
    """On or off, after success and after a fault."""
    write_schedule(leaves4(), tmp_path / "right.json")
    (tmp_path / "wrong.json").write_text("{}")
    for switch, state in ((gc.disable, False), (gc.enable, True)):
        switch()
        assert read_schedule(tmp_path / "right.json") == leaves4()
        report(lambda: read_schedule(tmp_path / "wrong.json"))
        assert gc.isenabled() is state


def test_decimals_are_text_and_no_integers() -> None:
    (value,) = read_document(b"[2.50]", lambda data: data)
    assert (type(value), value, repr(value)) == (Decimal, "2.50", "2.50")
