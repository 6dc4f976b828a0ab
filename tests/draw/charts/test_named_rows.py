"""Names and texts of the rows of a bar chart."""

from matplotlib.figure import Figure

from forestcoll.draw.charts.named_rows import name_rows


def test_rows_have_names_from_the_top_and_texts_beside_them() -> None:
    """A name with dollars is written as it is."""
    axes = Figure().subplots()
    axes.barh(range(2), [3, 4])
    name_rows(axes, ["$a$", "b"], ["3 GB/s", "4 GB/s"], points=8)
    labels = axes.get_yticklabels()
    assert [(one.get_text(), one.get_parse_math()) for one in labels] == [
        ("$a$", False),
        ("b", False),
    ]
    assert {one.get_fontsize() for one in labels} == {8}
    assert axes.yaxis_inverted()
    assert [(one.get_text(), one.xy) for one in axes.texts] == [
        ("3 GB/s", (1.0, 0)),
        ("4 GB/s", (1.0, 1)),
    ]
