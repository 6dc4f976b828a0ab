"""Files of pictures, and the text on them."""

import subprocess
import sys
from pathlib import Path as FilePath

import pytest
from matplotlib.text import Text

from forestcoll.core.optimality import optimum
from forestcoll.draw import draw_topology, save_figure
from forestcoll.errors import ExportError
from forestcoll.problem.cuts import Cut
from forestcoll.topology import TopologyBuilder, load_topology
from tests.draw.figures import texts


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_a_figure_is_written_in_the_format_of_its_name(suffix: str, tmp_path: FilePath) -> None:
    """By the first bytes of the file."""
    path = tmp_path / f"ring.{suffix}"
    save_figure(draw_topology(load_topology("ring:nodes=3")), path)
    start = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}[suffix]
    assert path.read_bytes().startswith(start)


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_names_with_dollar_signs_are_no_mathematics(suffix: str, tmp_path: FilePath) -> None:
    r"""Title, caption and labels that matplotlib cannot parse as TeX are written as they stand."""
    name = r"$x^2 \frac{ $"
    builder = TopologyBuilder()
    builder.link(builder.gpu(name), builder.switch(f"s {name}"), 1)
    builder.link(builder.gpu(f"b {name}", box=0), f"s {name}", 1)
    topology = builder.build(name)
    figure = draw_topology(topology, Cut(topology, [0]))
    assert {name, f"s {name}"} <= set(texts(figure))
    save_figure(figure, tmp_path / f"math.{suffix}")


def test_no_text_of_a_drawing_is_parsed() -> None:
    """Legends included."""
    topology = load_topology("dgx_a100:boxes=2")
    figure = draw_topology(topology, Cut(topology, optimum(topology).cut))
    assert figure.findobj(Text)
    assert not [text for text in figure.findobj(Text) if text.get_parse_math() and text.get_text()]


def test_an_unknown_format_and_a_file_as_a_directory_are_refused(tmp_path: FilePath) -> None:
    """With the names of the formats, and with the reason."""
    figure = draw_topology(load_topology("ring:nodes=3"))
    with pytest.raises(ExportError, match=r"ends in \.png, \.pdf or \.svg"):
        save_figure(figure, tmp_path / "ring.doc")
    (tmp_path / "file").touch()
    with pytest.raises(ExportError, match=r"cannot be written"):
        save_figure(figure, tmp_path / "file" / "ring.png")


def test_drawing_leaves_pyplot_alone() -> None:
    """No global figure, no screen: pyplot is not even loaded."""
    code = "import sys, forestcoll.draw; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_text_of_an_svg_is_text_and_equal_figures_are_equal_bytes(tmp_path: FilePath) -> None:
    """Names can be searched for; no date, no random name."""
    files = [tmp_path / name for name in ("a.svg", "b.svg", "a.pdf", "b.pdf", "a.png", "b.png")]
    for file in files:
        save_figure(draw_topology(load_topology("dgx_a100:boxes=2")), file)
    written = files[0].read_text()
    assert ">nvswitch</text>" in written
    assert "<dc:date>" not in written
    for one, other in zip(files[::2], files[1::2], strict=True):
        assert one.read_bytes() == other.read_bytes()
