"""The page in a real browser: what is seen, by mouse, by keyboard, at 390 pixels, and by axe."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from time import sleep

import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

from cuescope_view.command import HOST, listen
from cuescope_view.runs import RunsFolder
from cuescope_view.server import make_app

from .conftest import EVIL, SAMPLES, TOKEN, write_run

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]
DELAY = 150  # milliseconds that the page waits for the next letter of a search
SIZES = ((1200, 800), (390, 844))
NAMES = ("chromium", "chromium-browser", "google-chrome")
# a busy machine is slow, and what is seen in the end is what counts
expect.set_options(timeout=60_000)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("needs a browser: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox"]
        )
        yield browser
        browser.close()


@pytest.fixture
def address(home: Path) -> Iterator[str]:
    """A server as `cuescope view` starts it."""
    listener = listen(0)
    app = make_app(RunsFolder(home), TOKEN)
    server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_level="error"))
    thread = Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        sleep(0.01)
    yield f"http://{HOST}:{listener.getsockname()[1]}/{TOKEN}/"
    server.should_exit = True
    thread.join()
    listener.close()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """The page, which complains of nothing and asks nobody else for anything."""
    page = browser.new_page()
    page.set_default_timeout(60_000)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text))
    page.on(
        "request",
        lambda request: (
            complaints.append(request.url)
            if not request.url.startswith(address)
            else None
        ),
    )
    page.goto(address)
    yield page
    assert not complaints
    page.close()


def test_what_is_in_doubt_has_no_star(page: Page, home: Path) -> None:
    write_run(home / "third", name="a lamp", doubt="But it may be chance.")
    page.reload()
    page.get_by_role("link", name=str(home / "third")).click()
    cue = page.locator("tbody tr").first
    expect(cue).to_contain_text("? a lamp")
    expect(cue).to_contain_text("<.001")
    expect(cue).to_contain_text("\N{MINUS SIGN}0.50 to \N{MINUS SIGN}0.30")


def test_a_person_finds_looks_names_and_compares(page: Page, home: Path) -> None:
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(2)
    # by keyboard: / leads to the search, Tab and Enter to the run
    page.keyboard.press("/")
    page.keyboard.type("first")
    expect(rows).to_have_count(1)
    page.get_by_role("link", name=str(home / "first")).focus()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text(str(home / "first"))
    # what a stranger calls a cue is text, and nothing else
    expect(page.get_by_role("link", name=EVIL)).to_be_visible()
    page.get_by_role("button", name="Name").click()
    page.keyboard.type("red bird")
    page.keyboard.press("Enter")
    expect(page.locator(".command code").first).to_contain_text("'bird=red bird'")
    page.get_by_role("link", name="red bird").click()
    expect(page.locator("h1")).to_contain_text("red bird")
    # those with the cue, of the finding's label: with a picture first
    expect(rows).to_have_count(SAMPLES // 6)
    expect(rows.first.locator("img")).to_be_visible()
    page.get_by_role("button", name="Confidence").click()
    page.get_by_role("button", name="Confidence").click()
    expect(page.locator("th[aria-sort=descending]")).to_have_text("Confidence ↓")
    expect(rows.first).to_contain_text("s114")
    page.get_by_label("Samples").select_option("without")
    page.get_by_label("Label").select_option("")
    expect(rows).to_have_count(80)
    page.get_by_label("Samples").select_option("with")
    page.get_by_label("Search").fill("s000")
    page.get_by_role("button", name="Show s000").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    # two runs; what was typed last is searched for a moment later, and takes nobody back
    page.get_by_label("Search").fill("s00")
    page.get_by_role("link", name="Runs", exact=True).click()
    page.wait_for_timeout(2 * DELAY)
    assert page.url.endswith("#/runs")
    for name in ("first", "second"):
        page.get_by_role("checkbox", name=name).check()
    page.get_by_role("link", name="Compare the two").click()
    expect(page.get_by_role("status").first).to_contain_text(f"{SAMPLES // 5} flipped")
    page.get_by_label("Flipped").select_option("yes")
    expect(rows).to_have_count(SAMPLES // 5)
    expect(page.locator(".command code")).to_contain_text("cuescope compare")
    assert page.title() != "owned"


def test_every_view_fits_and_is_accessible(
    page: Page, home: Path, address: str
) -> None:
    """No view is wider than its window, and what is pressed is large enough for a finger."""
    write_run(home / "other", name="w" * 200)
    page.reload()
    expect(page.locator("tbody tr")).to_have_count(3)
    views = [page.url]
    page.get_by_role("link", name=str(home / "other")).click()
    expect(page.locator("h2")).to_have_count(4)
    views.append(page.url)
    views.append(page.get_by_role("link", name="w" * 200).evaluate("link => link.href"))
    views.append(f"{address}#/cues")
    for view in views:
        page.goto(view)
        for size in SIZES:
            require_accessible(page, size)
            for button in page.locator("button:visible").all():
                box = button.bounding_box()
                assert box is not None
                assert box["height"] >= 24


def require_accessible(page: Page, size: tuple[int, int]) -> None:
    """Contrast, names and order as axe asks for them, and nothing wider than the window."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    expect(page.locator("main")).not_to_have_attribute("aria-busy", "true")
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    faults = Axe().run(page).response["violations"]
    assert not faults, [(each["id"], each["nodes"][0]["html"]) for each in faults]


def test_a_person_marks_samples_with_a_cue_and_without_it(
    page: Page, home: Path
) -> None:
    page.get_by_role("link", name=str(home / "first")).click()
    page.get_by_role("link", name="All samples").click()
    for key, side in (("s000", "with"), ("s001", "without"), ("s002", "with")):
        page.get_by_role("button", name=f"{key}: {side} the cue", exact=True).click()
    # a second click takes a mark back
    mark = page.get_by_role("button", name="s002: with the cue", exact=True)
    expect(mark).to_have_attribute("aria-pressed", "true")
    mark.click()
    expect(mark).to_have_attribute("aria-pressed", "false")
    # marks stay while filters change
    page.get_by_label("Label").select_option("tree")
    expect(page.get_by_text("1 with the cue, 1 without it.")).to_be_visible()
    page.get_by_label("Name of the cue").fill("red")
