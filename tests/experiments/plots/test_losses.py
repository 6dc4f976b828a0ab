"""Points without a result, in letters and in words."""

from __future__ import annotations

from dataclasses import replace

from experiments.plots.drawing import panels, style
from experiments.plots.losses import (
    INK,
    lettered,
    lost_in_words,
    lost_places,
    never_done,
    notes,
    partly_done,
    unsupported_in_words,
)
from experiments.plots.panels import palette_of
from experiments.results.rows import Status
from tests.experiments.plots.letters import letters
from tests.experiments.samples import clusters_of_rows


def test_losses_are_told_with_the_sizes_where_they_are() -> None:
    """In the order and colour of the methods; of a topology the size is known."""
    rows = clusters_of_rows()
    rows[4] = replace(rows[4], status=Status.TIMEOUT)
    rows[0] = replace(rows[0], status=Status.FAILED)
    rows.append(replace(rows[0], cluster="other", status=Status.UNSUPPORTED))
    palette = palette_of(rows)
    assert lost_in_words(rows, palette, cluster="dgx_a100") == [
        ("forestcoll: failed at 16 GPUs", palette["forestcoll"]["color"]),
        ("ring: timeout from 32 GPUs on", palette["ring"]["color"]),
    ]
    assert lost_in_words(rows, palette, topology="dgx_a100:boxes=8") == [
        ("ring: timeout", palette["ring"]["color"])
    ]


def test_a_loss_without_a_size_is_told_too() -> None:
    rows = [replace(row, gpus=None, status=Status.FAILED) for row in clusters_of_rows()[:1]]
    ((words, _),) = lost_in_words(rows, palette_of(rows), cluster="dgx_a100")
    assert words == "forestcoll: failed at ? GPUs"


def test_what_cannot_be_done_in_a_panel_is_told_in_one_line() -> None:
    """Whatever the size; it is a word, so that it is read in grey. Long lines are broken."""
    row = replace(clusters_of_rows()[0], status=Status.UNSUPPORTED)
    rows = [replace(row, method=name, gpus=size) for name in ("a", "b") for size in (8, 16)]
    told = [("unsupported: a, b", INK)]
    assert lost_in_words(rows, palette_of(rows), cluster="dgx_a100") == told
    assert len(unsupported_in_words([f"method-{i}" for i in range(12)])) == 3


def test_beyond_the_last_result_only_the_first_loss_of_a_kind_has_a_letter() -> None:
    """Of 8 to 256 GPUs: a timeout before a result stays, so does the first after, and an M."""
    ok, late, full = Status.OK, Status.TIMEOUT, Status.OUT_OF_MEMORY
    ends = {8: late, 16: ok, 32: late, 64: late, 128: full, 256: full}
    row = clusters_of_rows()[0]
    every = [(size, replace(row, gpus=size, status=status)) for size, status in ends.items()]
    lost = [one for one in every if one[1].status is not ok]
    assert [place for place, _ in lettered(lost, every)] == [8, 32, 128]


def test_many_losses_at_one_place_are_counted() -> None:
    """Twelve unsupported and two timeouts: U 12 and T 2; of four, each is a letter of its own."""
    many = [(Status.UNSUPPORTED, "red")] * 12 + [(Status.TIMEOUT, "blue")] * 2
    with style():
        _figure, (crowded, clear) = panels(["crowded", "clear"])
        lost_places(crowded, 8, None, many)
        lost_places(clear, 8, None, many[-4:])
    assert {letter: len(places) for letter, places in letters(crowded).items()} == {"U": 1, "T": 1}
    assert sorted(text.get_text() for text in crowded.texts) == ["12", "2"]
    assert {letter: len(places) for letter, places in letters(clear).items()} == {"U": 2, "T": 2}
    assert not clear.texts


def test_more_notes_than_have_room_are_counted() -> None:
    """Of nine, four and how many are left."""
    with style():
        figure, panel = panels(["one"])
        notes(panel, [[(f"note {i}", "red") for i in range(9)]])
    written = [text.get_text() for text in panel[0].texts]
    assert sorted(written) == ["and 5 more without a result", *(f"note {i}" for i in range(4))]
    assert figure.axes[0].texts[0].get_color() == INK


def test_a_method_without_any_result_is_named_with_what_became_of_it() -> None:
    """At all sizes in one way, in two ways, at one size, or unsupported; others are not named."""
    rows = clusters_of_rows()
    lost = {
        "late": {16: Status.TIMEOUT, 32: Status.TIMEOUT},
        "odd": {16: Status.FAILED, 32: Status.TIMEOUT},
        "once": {64: Status.OUT_OF_MEMORY},
        "never": {16: Status.UNSUPPORTED, 64: Status.UNSUPPORTED},
    }
    for method, ends in lost.items():
        rows += [
            replace(rows[0], method=method, topology=f"t{size}", gpus=size, status=status)
            for size, status in ends.items()
        ]
    assert never_done(rows, palette_of(rows)) == {
        "late": "late: timeout from 16 GPUs on",
        "odd": "odd: timeout or failed from 16 GPUs on",
        "once": "once: out of memory at 64 GPUs",
        "never": "never: unsupported",
    }


def test_methods_without_any_result_are_told_in_the_legend_alone() -> None:
    """Not above the panels, whether by method or by choice of parameters."""
    rows = clusters_of_rows()
    lost = replace(rows[0], parameters={"rings": 2}, status=Status.TIMEOUT)
    never = replace(lost, method="never")
    assert partly_done([*rows, lost, never]) == rows
    assert partly_done([*rows, lost, never], by="method") == [*rows, lost]
