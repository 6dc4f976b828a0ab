"""The page in a browser: it draws, shows, switches, sorts and filters, and uses no network.

`make test-web` gets what this needs. Without it these tests are skipped, unless FORESTCOLL_WEB is
set: then they fail.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from experiments.report.page import write_report
from experiments.report.sources import Source
from experiments.results.rows import Row
from tests.experiments.samples import clusters_of_rows

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
NASTY = '</script><img src=x onerror=alert(1)>"$x$ é ☃'


def absent(reason: str) -> None:
    if os.environ.get("FORESTCOLL_WEB"):
        pytest.fail(reason)
    pytest.skip(f"{reason}; make test-web gets it")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    try:
        from playwright.sync_api import Error, sync_playwright
    except ModuleNotFoundError:
        absent("playwright is not installed")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as playwright:
        try:
            started = playwright.chromium.launch(executable_path=found)
        except Error as error:
            absent(f"no browser starts: {str(error).splitlines()[0]}")
        yield started
        started.close()


def rows() -> list[Row]:
    """Two methods on three networks, one timeout; one of the methods has an evil name."""
    named = [
        replace(row, method=NASTY) if row.method == "ring" else row for row in clusters_of_rows()
    ]
    return [replace(row, point=f"p{number}") for number, row in enumerate(named)]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    other = [replace(row, experiment="other") for row in rows()]
    sources = [Source("a", "toy", "Toys", tuple(rows())), Source("b", "other", NASTY, tuple(other))]
    return write_report(sources, tmp_path_factory.mktemp("page") / "a.html", "Both")


@pytest.fixture
def page(browser: Any, file: Path) -> Iterator[Any]:
    """The page, open and drawn; whatever it complains of or asks a network for fails the test."""
    wrong: list[str] = []
    opened = browser.new_page(viewport={"width": 1300, "height": 900})
    opened.on("console", lambda message: wrong.append(message.text))
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("dialog", lambda dialog: wrong.append(dialog.message))
    opened.on("request", lambda request: wrong.append(request.url))
    opened.goto(file.as_uri())
    opened.locator(".plot .main-svg").first.wait_for()
    opened.locator("#rows tbody tr").first.wait_for(state="attached")
    yield opened
    opened.close()
    local = ("file:", "data:", "blob:")
    assert [text for text in wrong if not text.startswith(local)] == []


def shown(page: Any, column: int) -> list[str]:
    cells = page.locator(f"#rows tbody tr:not([hidden]) > :nth-child({column})")
    return [str(text) for text in cells.all_text_contents()]


def until(page: Any, done: Callable[[], bool]) -> None:
    """Wait for what takes the page a moment; its policy keeps Playwright from doing so in it."""
    for _ in range(100):
        if done():
            return
        page.wait_for_timeout(50)
    pytest.fail("it does not happen")


def test_headings_sort_numbers_as_numbers(page: Any) -> None:
    """Up, then down; cells without a number are last both times."""
    head = page.locator("#rows th", has_text="time")
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    times = shown(page, 7)
    assert times[:3] == ["1.6 ms", "1.6 ms", "1.6 ms"]
    assert times[-2:] == ["", ""]
    head.locator("button").press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert shown(page, 7)[0] == "6.4 ms"
    assert shown(page, 7)[-2:] == ["", ""]


def test_filters_narrow_and_say_how_many_rows_are_left(page: Any) -> None:
    """All of them together; Clear undoes them. A timeout is found by its status and reason."""
    page.select_option("#filter-status", "timeout")
    assert page.inner_text("#count") == "2 of 12 rows"
    assert "over 60 s" in shown(page, 6)[0]
    page.select_option("#filter-experiment", "other")
    assert page.inner_text("#count") == "1 of 12 rows"
    page.click("#clear")
    page.fill("#filter-text", "BOXES=2 forestcoll")
    until(page, lambda: page.inner_text("#count") == "2 of 12 rows")


def test_a_row_shows_all_it_says(page: Any) -> None:
    """By a button that says whether it is open; the exact algbw is there."""
    button = page.locator("#rows tbody button").first
    button.click()
    assert button.get_attribute("aria-expanded") == "true"
    assert "1040/3" in page.inner_text("#rows .more")
    button.click()
    assert page.locator("#rows .more").count() == 0


def test_two_hundred_rows_are_shown_at_first(browser: Any, tmp_path: Path) -> None:
    """More on a click, all of them on paper; a search goes through all."""
    many = [replace(rows()[0], topology=f"t:n={n}", gpus=n, point=f"p{n}") for n in range(450)]
    file = write_report([Source("a", "toy", "Toys", tuple(many))], tmp_path / "a.html")
    page = browser.new_page()
    page.goto(file.as_uri())
    lines, more = page.locator("#rows tbody tr"), page.locator("#more")
    until(page, lambda: lines.count() == 200)
    assert page.inner_text("#count") == "450 of 450 rows"
    page.fill("#filter-text", "n=44")
    until(page, lambda: shown(page, 2) == ["t:n=44", *(f"t:n={n}" for n in range(440, 450))])
    page.click("#clear")
    until(page, lambda: lines.count() == 200)
    more.click()
    assert more.inner_text() == "show 50 more"
    more.click()
    assert lines.count() == 450
    assert more.is_hidden()
    page.close()


def test_the_legend_hides_a_method_in_all_panels_of_its_section(page: Any) -> None:
    """And shows it again; other sections stay as they are."""
    traces = page.locator("#experiment-1 .plot .scatterlayer .trace")
    for plot in page.locator("#experiment-1 .plot").all():
        plot.scroll_into_view_if_needed()
        plot.locator(".scatterlayer .trace").first.wait_for(state="attached")
    before = traces.count()
    entry = page.locator("#experiment-1 .legend button", has_text="forestcoll").first
    entry.click()
    assert entry.get_attribute("aria-pressed") == "false"
    until(page, lambda: traces.count() == before - 5)  # two figures of one panel, one of three
    entry.press("Enter")
    until(page, lambda: traces.count() == before)


def test_the_mouse_shows_a_point(page: Any) -> None:
    """The evil name too, as it is written."""
    for name in ("forestcoll", NASTY):
        entry = page.locator("#experiment-1 .legend").get_by_text("hide all")
        entry.click()
        page.locator("#experiment-1 .legend button", has_text=name).first.click()
        place = page.locator("#experiment-1 .plot .point").first.bounding_box()
        page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
        page.locator(".tooltip", has_text="status: ok").wait_for()
        lines = page.inner_text(".tooltip").splitlines()
        assert lines[0] == name
        assert "topology: dgx_a100:boxes=2" in lines
        assert "16 GPUs, allgather" in lines
        page.mouse.move(0, 0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_follows_the_preferred_colour_scheme(page: Any, scheme: str) -> None:
    """Ground and figures, while the page is open."""
    page.emulate_media(color_scheme=scheme)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 25, 29)"}[scheme]
    text = page.locator(".plot .xtick text").first
    colour = {"light": "rgb(29, 33, 38)", "dark": "rgb(230, 233, 237)"}[scheme]
    # Panels are drawn again one after another.
    until(page, lambda: text.evaluate("one => getComputedStyle(one).fill") == colour)


def test_nothing_leaves_a_narrow_page(page: Any) -> None:
    """Figures and the legend stay inside 360 pixels; the table scrolls by itself."""
    page.set_viewport_size({"width": 360, "height": 800})
    parts = "h1, .plot .main-svg, .legend, .filters, .scrolls"
    ends = "all => Math.max(...all.map(one => one.getBoundingClientRect().right))"
    until(page, lambda: page.eval_on_selector_all(parts, ends) <= 360)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_picture_of_the_first_figure_goes_when_its_panels_are_drawn(
    browser: Any, tmp_path: Path
) -> None:
    """It is shown before any script of the page has read a figure."""
    write_report([Source("a", "toy", "Toys", tuple(rows()))], tmp_path / "a.html")
    page = browser.new_page(java_script_enabled=False)
    page.goto((tmp_path / "a.html").as_uri())
    assert page.locator(".preview").bounding_box()["height"] > 200
    page.close()
    page = browser.new_page()
    page.goto((tmp_path / "a.html").as_uri())
    page.locator(".preview").wait_for(state="detached")
    assert page.locator("figure").first.locator(".plot:not([data-drawn])").count() == 0
    page.close()


def test_printing_draws_all_figures(page: Any) -> None:
    """Also those that have not been in view."""
    page.pdf()
    assert page.locator(".plot:not([data-drawn])").count() == 0
