"""Points without a result, in failure marks and in words."""

from dataclasses import replace

from experiments.figures.failures import (
    failures_of,
    first_failures,
    legend,
    lost_in_words,
    never_done,
    partly_done,
)
from experiments.figures.figure import INK, Note
from experiments.figures.styles import palette_of
from experiments.results.rows import Status
from tests.experiments.samples import clusters_of_rows


def test_losses_are_reported_with_their_sizes() -> None:
    """In the order and colour of the methods; of a topology the size is known."""
    rows = clusters_of_rows()
    rows[4] = replace(rows[4], status=Status.TIMEOUT)
    rows[0] = replace(rows[0], status=Status.FAILED)
    rows.append(replace(rows[0], cluster="other", status=Status.UNSUPPORTED))
    palette = palette_of(rows)
    assert lost_in_words(rows, palette, cluster="dgx_a100") == (
        Note("forestcoll: failed at 16 GPUs", palette["forestcoll"].colour),
        Note("ring: timeout from 32 GPUs on", palette["ring"].colour),
    )
    assert lost_in_words(rows, palette, topology="dgx_a100:boxes=8") == (
        Note("ring: timeout", palette["ring"].colour),
    )


def test_a_loss_without_a_size_is_reported_too() -> None:
    """Of a method that has a result elsewhere: the legend shows others."""
    done = clusters_of_rows()[0]
    lost = replace(done, gpus=None, topology="another", status=Status.FAILED)
    (note,) = lost_in_words([done, lost], palette_of([done]), cluster="dgx_a100")
    assert note.text == "forestcoll: failed at ? GPUs"
    assert never_done([lost], palette_of([done])) == {"forestcoll": "forestcoll: failed"}


def test_unsupported_methods_of_a_panel_are_reported_in_one_line() -> None:
    """Whatever the size; it is a word, so that it is read in grey."""
    row = replace(clusters_of_rows()[0], status=Status.UNSUPPORTED)
    elsewhere = replace(clusters_of_rows()[0], cluster="mi250")
    names = ("a", "b", *(f"method-{i}" for i in range(12)))
    rows = [replace(row, method=name, gpus=size) for name in names for size in (8, 16)]
    rows += [replace(elsewhere, method=name) for name in names]
    few = [row for row in rows if row.method in "ab"]
    assert lost_in_words(few, palette_of(few), cluster="dgx_a100") == (
        Note("unsupported: a, b", INK),
    )
    (note,) = lost_in_words(rows, palette_of(rows), cluster="dgx_a100")
    assert note.text.startswith("unsupported: a, b, method-0")


def test_beyond_the_last_result_only_the_first_loss_of_a_kind_has_a_letter() -> None:
    """Of 8 to 256 GPUs: a timeout before a result stays, so does the first after, and an M."""
    ok, late, full = Status.OK, Status.TIMEOUT, Status.OUT_OF_MEMORY
    ends = {8: late, 16: ok, 32: late, 64: late, 128: full, 256: full}
    row = clusters_of_rows()[0]
    every = [(replace(row, gpus=size, status=status), size) for size, status in ends.items()]
    lost = [one for one in every if one[0].status is not ok]
    assert [place for _, place in first_failures(lost, every)] == [8, 32, 128]


def test_the_page_has_room_for_all_failures() -> None:
    """Paper for the first beyond the last result, and for no method that has none anywhere.

    Of those the page has only timeouts, at their limit of 60 s.
    """
    rows = clusters_of_rows()
    rows += [replace(rows[-1], topology="t", gpus=128), replace(rows[-1], method="never")]
    placed = [(row, float(row.gpus or 0)) for row in rows]
    palette = palette_of(rows)
    times = failures_of(placed, rows, palette, "generation_s")
    assert [(one.name, one.x, one.y, one.page_only) for one in times.marks] == [
        ("ring", 64, 60, False),
        ("never", 64, 60, True),
        ("ring", 128, 60, True),
    ]
    assert [limit.page_only for limit in times.limits] == [False]
    rates = failures_of(placed, rows, palette, "algbw_gb_s")
    assert [(one.name, one.y) for one in rates.marks] == [("ring", None)] * 2
    assert "over 60 s" in rates.marks[0].text


def test_methods_without_results_are_named_with_their_status() -> None:
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
    names = [entry.name for entry in legend(rows, palette_of(rows))]
    assert names[0] == "late: timeout from 16 GPUs on"
    assert "never: unsupported" not in names


def test_methods_without_any_result_are_reported_in_the_legend_alone() -> None:
    """Not above the panels, whether by method or by choice of parameters."""
    rows = clusters_of_rows()
    lost = replace(rows[0], parameters={"rings": 2}, status=Status.TIMEOUT)
    never = replace(lost, method="never")
    assert partly_done([*rows, lost, never]) == rows
    assert partly_done([*rows, lost, never], by="method") == [*rows, lost]
