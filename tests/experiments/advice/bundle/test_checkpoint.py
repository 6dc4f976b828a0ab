"""What is done, kept until all is."""

from pathlib import Path

import pytest

from experiments.advice.bundle.checkpoint import Checkpoint
from forestcoll.errors import ExportError, VerificationError

INDEX = '{"format": "forestcoll-bundle"}'


def nothing_wrong(folder: Path) -> None:
    assert (folder / "index.json").is_file()


def test_finished_parts_are_not_made_again(tmp_path: Path) -> None:
    """Under a key of all that it depends on; by another process, too."""
    made: list[int] = []

    def make() -> dict[str, int]:
        made.append(len(made))
        return {"number": len(made)}

    one = Checkpoint(tmp_path / "bundle")
    assert one.kept(one.key("a", 1), make) == {"number": 1}
    assert one.kept(one.key("a", 2), make) == {"number": 2}
    again = Checkpoint(tmp_path / "bundle")
    assert again.kept(again.key("a", 1), make) == {"number": 1}
    assert again.done == 2
    assert [path.name for path in tmp_path.iterdir()] == [".bundle.checkpoint"]


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 10**5, "\xff"])
def test_unreadable_parts_are_made_again(tmp_path: Path, text: str) -> None:
    """Whatever has become of the file."""
    one = Checkpoint(tmp_path / "bundle")
    key = one.key("a")
    one.kept(key, lambda: {"number": 1})
    (one.path / f"{key}.json").write_bytes(text.encode("latin-1"))
    assert one.kept(key, lambda: {"number": 2}) == {"number": 2}
    assert one.kept(key, lambda: {"number": 3}) == {"number": 2}


def test_a_bundle_is_put_in_its_place_whole(tmp_path: Path) -> None:
    """In that of an older one, too, of which nothing is left."""
    place = tmp_path / "bundle"
    for names in (("a/1", "a/2"), ("b/1",)):
        work = Checkpoint(place)
        work.kept(work.key(1), lambda: {"done": 1})
        work.finish({**dict.fromkeys(names, "x"), "index.json": INDEX}, nothing_wrong)
        found = {path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file()}
        assert found == {*names, "index.json"}
        assert [path.name for path in tmp_path.iterdir()] == ["bundle"]


def test_one_that_fails_its_check_replaces_nothing(tmp_path: Path) -> None:
    place = tmp_path / "bundle"
    Checkpoint(place).finish({"index.json": INDEX}, nothing_wrong)

    def fails(folder: Path) -> None:
        raise VerificationError("not whole")

    with pytest.raises(VerificationError, match="not whole"):
        Checkpoint(place).finish({"index.json": INDEX, "more": "x"}, fails)
    assert [path.name for path in place.iterdir()] == ["index.json"]


def test_foreign_folders_and_files_are_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ExportError, match="file: is a file; name a folder"):
        Checkpoint(tmp_path / "file")
    for name, text in (("notes.txt", "x"), ("index.json", "{}"), ("index.json", "[")):
        folder = tmp_path / f"full {len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        (folder / name).write_text(text)
        with pytest.raises(ExportError, match="is a folder of something else; name another"):
            Checkpoint(folder)
    (tmp_path / "empty").mkdir()
    Checkpoint(tmp_path / "empty").finish({"index.json": INDEX}, nothing_wrong)
    with pytest.raises(ExportError, match="file is a file; name a folder"):
        Checkpoint(tmp_path / "file" / "folder")
    Checkpoint(tmp_path / "new" / "folder").finish({"index.json": INDEX}, nothing_wrong)
    assert (tmp_path / "new" / "folder" / "index.json").is_file()
