"""Names of a package, loaded when first asked for."""

import sys
from pathlib import Path

import pytest

from forestcoll.lazy_loading import homes

BY_HAND = """from shop import shelf as shelf
from shop.shelf import apple as apple

__version__: str
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of one module, with a stub that lists the module and what is in it."""
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "from forestcoll.lazy_loading import attach\n__getattr__, __dir__ = attach(__name__)\n"
    )
    (folder / "__init__.pyi").write_text(BY_HAND)
    (folder / "shelf.py").write_text("apple = object()\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    for name in ("shop", "shop.shelf"):
        sys.modules.pop(name, None)


def test_a_name_is_loaded_with_its_home_and_once(shop: Path) -> None:
    """Before the first use the home is not imported; afterwards the stub is not read again."""
    import shop as package

    assert "shop.shelf" not in sys.modules
    assert homes("shop") == {"shelf": "shop", "apple": "shop.shelf"}
    apple = package.apple
    (shop / "__init__.pyi").unlink()
    assert package.apple is apple is sys.modules["shop.shelf"].apple
    assert package.shelf is sys.modules["shop.shelf"]


def test_names_are_listed_before_they_are_loaded(shop: Path) -> None:
    import shop as package

    assert package.__all__ == ["apple", "shelf"]
    assert dir(package) == ["apple", "shelf"]
    assert "shop.shelf" not in sys.modules


def test_a_name_that_is_not_listed_is_an_attribute_error(shop: Path) -> None:
    """Also one with underscores, which tools ask modules for."""
    import shop as package

    for name in ("pear", "__wrapped__"):
        with pytest.raises(AttributeError, match=f"module 'shop' has no attribute '{name}'"):
            getattr(package, name)


def test_a_few_names_may_be_loaded_late_without_a_stub(shop: Path) -> None:
    """The others are imported at once; a name of neither kind is refused."""
    (shop / "__init__.py").write_text(
        "from forestcoll.lazy_loading import attach\n"
        "pear = 1\n"
        "__getattr__, __dir__ = attach(__name__, {'apple': 'shop.shelf'})\n"
    )
    (shop / "__init__.pyi").unlink()
    import shop as package

    assert {"apple", "pear"} <= {*dir(package)}
    assert "shop.shelf" not in sys.modules
    assert package.apple is sys.modules["shop.shelf"].apple
    with pytest.raises(AttributeError, match="has no attribute 'plum'"):
        package.plum  # noqa: B018
