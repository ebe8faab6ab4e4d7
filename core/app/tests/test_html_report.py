"""The HTML report: what it says, that strangers' words stay words, and that a browser shows it."""

import json
import re
import shutil
import subprocess
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from html import unescape
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import BytesIO
from itertools import pairwise, product
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import sync_playwright

from cuescope.python.notebook import SIDE, fragment
from cuescope.report.html import MAX_CARDS, MAX_SHEETS, MAX_TILES, duration, render
from cuescope.report.steps import next_steps
from cuescope_core.conclusions import Accuracy, Outline, Portrait, Report, Table
from cuescope_core.runs import exhibit_key, picture_key

from ...engine.tests.reports import LABELS, make_pictures, make_report

HOSTILE = (
    "</title></style></script><script>document.title='taken'</script>"
    "\"><img src=x onerror=alert(1)>'{{ 7 * 7 }}"
)
VOID = {"meta", "img", "link", "br", "input"}


class Page(HTMLParser):
    """The elements of a page as (tag, attributes), and the text outside of script and style."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.pieces: list[str] = []
        self.inside: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.pieces.append(" ")
        if tag not in VOID:
            self.inside.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.inside.pop() == tag, f"</{tag}> closes another element"

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self.inside):
            self.pieces.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.pieces).split())

    @property
    def structure(self) -> list[tuple[str, list[str]]]:
        return [(tag, sorted(attributes)) for tag, attributes in self.elements]

    def having(self, name: str) -> list[str]:
        return [a[name] or "" for _, a in self.elements if name in a]

    def classed(self, name: str) -> list[str]:
        return [
            tag for tag, a in self.elements if name in (a.get("class") or "").split()
        ]


FIXED = {"verdict", "status"}  # one of a few words


def rewritten(report: Report, change: Callable[[str], str]) -> Report:
    """The report with every string that someone else can choose changed, keys too."""

    def walk(value: Any, field: str = "") -> Any:
        if isinstance(value, str):
            return value if field in FIXED else change(value)
        if isinstance(value, Mapping):
            free = field in {"notes", "options", "facts", "versions", "tools"}
            return {change(k) if free else k: walk(v, k) for k, v in value.items()}
        if isinstance(value, tuple | list):
            return [walk(v) for v in value]
        return value

    return Report.model_validate(walk(report.model_dump()))


def without_findings(report: Report) -> Report:
    scores = tuple(s.model_copy(update={"finding": False}) for s in report.scores)
    return make_report(len(report.features), scores=scores)


# ------------------------------------------------------------------------------ what it says


def test_the_page_opens_with_the_finding_in_words() -> None:
    text = Page(render(make_report(), {})).text
    sentence = (
        "When red background is on screen, 'moving east' loses 62 points of accuracy, and one "
        "still frame is enough for a wrong answer at 0.97."
    )
    assert sentence in text
    assert text.index(sentence) < text.index("Settings, cost")
    assert "No cue found" not in text


def test_without_findings_it_says_what_was_tried() -> None:
    text = Page(render(without_findings(make_report(5)), {})).text
    assert "No cue found." in text
    assert (
        "tried 5 candidate features (10 feature and label pairs) on 480 samples" in text
    )
    assert (
        "The strongest was red background for “moving east”, with TRoVe score 1.59"
        in text
    )
    assert "does not prove that the model relies on no cue" in text


def test_without_findings_it_says_what_the_terminal_says_in_its_order() -> None:
    """What has no figure does not go before what has one."""
    report = without_findings(make_report(5))
    words = ["first: cannot tell.", "second: cannot tell.", "third: cannot tell."]
    values = [0.3, None, 0.1]
    told = []
    for score, sentence, value in zip(report.scores, words, values, strict=False):
        update = {"statement": sentence, "always_reported": True, "value": value}
        told.append(
            score.model_copy(update=update | {"metric": report.metrics[0].name})
        )
    report = report.model_copy(update={"scores": tuple(told)})
    assert list(report.statements) == words
    text = Page(render(report, {})).text
    places = [text.index(sentence) for sentence in words]
    assert places == sorted(places)
    # below them what the model did about the first
    shown = text.index(report.contrasts[0].sides[0].title)
    assert places[-1] < shown < text.index("Repeat with another seed")


def test_an_empty_report_is_a_page() -> None:
    empty = make_report(0, metrics=(), evidence=(), notes={})
    text = Page(render(empty, {})).text
    assert "found no candidate feature to test" in text
    assert "Nothing was checked" in text
    assert empty.provenance.command in text


def test_a_finding_without_a_statement_still_gets_words() -> None:
    report = make_report(1)
    first = report.scores[0].model_copy(update={"statement": None})
    text = Page(render(make_report(1, scores=(first, *report.scores[1:])), {})).text
    assert (
        "The model relies on red background for 'moving east' (TRoVe score 1.59)."
        in text
    )


def test_everything_a_stranger_needs_is_there() -> None:
    report = make_report()
    text = Page(render(report, {})).text
    for words in (
        report.title,
        report.hash,
        report.provenance.command,
        *LABELS,
        *(metric.meaning for metric in report.metrics),
        *(e.detail for e in report.evidence),
        "Cramér's V 0.901 (asked 0.9)",
        "2,480 trials in 11 s: 1,912 model calls",
        "precision@10 red background for “moving east” passed 1.00 0.90",
        "R-precision note 0.21 0.25",
        "1 passed 2 note",
        "p < 0.001 q = 0.004 n = 96",
        "1.48 to 1.68",
    ):
        assert words in text, words


def test_cards_keep_the_order_of_the_scores() -> None:
    report = make_report(5)
    text = Page(render(report, {})).text
    listed = text[
        text.index("Everything that was tried") : text.index("How to read the scores")
    ]
    places = [listed.index(f"{report.names[f.key]} ") for f in report.features]
    assert all(before < after for before, after in pairwise(places))


def test_only_the_first_cards_and_frames_are_shown_and_the_rest_counted() -> None:
    report = make_report(MAX_CARDS + 8)
    page = Page(render(report, make_pictures(make_report(MAX_SHEETS))))
    assert len(page.classed("card")) == MAX_CARDS
    assert f"The first {MAX_CARDS} are shown; 8 more" in page.text
    assert (
        page.elements.count(("figure", {"class": "medoid", "title": _title(0, 0, 1)}))
        == 1
    )
    assert len(page.classed("medoid")) == MAX_SHEETS
    sheets = sum(tag == "figure" and "title" in a for tag, a in page.elements)
    assert sheets == MAX_SHEETS * MAX_TILES
    assert page.text.count(f"and {30 - MAX_TILES} more frames") == MAX_SHEETS
    assert (
        page.text.count("Pictures are shown of the strongest") == MAX_CARDS - MAX_SHEETS
    )


def test_durations_as_people_say_them() -> None:
    spoken = [duration(x) for x in (0.42, 59.7, 71, 7260)]
    assert spoken == ["0.4 s", "1 min 0 s", "1 min 11 s", "2 h 1 min"]


def test_headings_never_skip_a_level() -> None:
    page = Page(render(make_report(), make_pictures(make_report())))
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def _title(feature: int, frame: int, strength: int) -> str:
    return f"test/{feature:02}{frame:03}, frame {frame % 3}, strength {strength:.2f}"


# --------------------------------------------------------------------------------- pictures


def test_missing_and_broken_pictures_are_shown_as_absent() -> None:
    report = make_report(1)
    pictures = make_pictures(report)
    _, second = report.features[0].occurrences[:2]
    del pictures[picture_key(second)]
    pictures[exhibit_key(second)] = b"not a picture"
    page = Page(render(report, pictures))
    absent = [
        a.get("aria-label") for _, a in page.elements if a.get("class") == "absent"
    ]
    assert absent == [
        "Frame 1 of test/00001, no picture",  # in the contrast
        "Frame 1 of test/00001, no picture at hand",
    ]


def test_a_method_says_the_next_step_itself() -> None:
    report = make_report(1)
    assert "Look at the samples first" in next_steps(report)[0][0]
    notes = {**report.notes, "next step": "Try the mean apart: -O other_mean=true."}
    first, *others = next_steps(report.model_copy(update={"notes": notes}))
    assert first == ("Try the mean apart: -O other_mean=true.", None)
    assert not any("a cue" in words for words, _ in others)
    assert any("cuescope compare" in str(command) for _, command in others)


def test_without_any_picture_the_frames_are_named() -> None:
    page = Page(render(make_report(1), {}))
    assert not [tag for tag, _ in page.elements if tag == "img"]
    assert (
        "No pictures are at hand. It occurs 30 times, most typically in test/00000"
        in page.text
    )


def test_every_picture_says_which_frame_it_is() -> None:
    report = make_report(2)
    page = Page(render(report, make_pictures(report)))
    spoken = {a["alt"] for tag, a in page.elements if tag == "img" and a["alt"]}
    shown = [seen for f in report.features for seen in f.occurrences[:MAX_TILES]]
    assert spoken == {f"Frame {seen.frame} of {seen.sample}" for seen in shown}


def test_a_missing_value_is_said() -> None:
    text = Page(render(make_report(3), {})).text  # its third cluster has no static bias
    assert "Static bias not measured" in text
    assert "None" not in text


# ----------------------------------------------------------------------------------- safety


def test_hostile_words_change_no_element_of_the_page() -> None:
    plain = rewritten(make_report(), lambda words: f"x{words}")
    hostile = rewritten(make_report(), lambda words: HOSTILE + words)
    page = Page(render(hostile, make_pictures(hostile)))
    assert page.structure == Page(render(plain, make_pictures(plain))).structure
    assert page.text.count("document.title='taken'") > 50  # still there, as words
    assert page.text.count("{{ 7 * 7 }}") == page.text.count("document.title='taken'")


def test_braces_in_a_name_are_not_a_place_for_another_name() -> None:
    report = rewritten(
        make_report(1), lambda w: "{feature} {0}" if w == "red background" else w
    )
    assert "When {feature} {0} is on screen" in Page(render(report, {})).text


def test_nothing_points_outside_of_the_file() -> None:
    report = make_report()
    written = render(report, make_pictures(report))
    page = Page(written)
    assert page.having("src")
    assert all(
        source.startswith("data:image/jpeg;base64,") for source in page.having("src")
    )
    ids = set(page.having("id"))
    assert len(ids) == len(page.having("id"))
    assert all(href[0] == "#" and href[1:] in ids for href in page.having("href"))
    assert not re.search(r"https?://|@import|url\(|<link|<base|<iframe", written)
    (policy,) = (a["content"] for _, a in page.elements if "http-equiv" in a)
    assert policy is not None
    assert policy.startswith("default-src 'none'; img-src data:;")


# ------------------------------------------------------------------------- in a real browser

WATCH = """<script>
window.seen = {errors: [], blocked: []};
addEventListener("error", (e) => seen.errors.push(e.message || e.target.tagName), true);
addEventListener("unhandledrejection", (e) => seen.errors.push(String(e.reason)));
document.addEventListener("securitypolicyviolation", (e) => seen.blocked.push(e.blockedURI));
</script>"""
TELL = """<script>
addEventListener("load", () => {
  const tell = () => { PROBE };
  try { Object.assign(seen, tell()); } catch (e) { seen.errors.push(String(e)); }
  seen.fetched = performance.getEntriesByType("resource").map((entry) => entry.name);
  document.body.dataset.seen = JSON.stringify(seen);
});
</script>"""


@pytest.fixture(scope="session")
def browser() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    pytest.skip("needs a browser: apt-get install chromium")


def probe(
    browser: str, page: str, script: str, folder: Path, width: int = 1200
) -> dict[str, Any]:
    """What `script` returns inside a copy of the page, with the errors and fetches on the way.

    In the copy no picture is lazy, so that all are there when the page has loaded.
    """
    probed = page.replace(' loading="lazy"', "").replace("<head>", "<head>" + WATCH, 1)
    probed = probed.replace("</body>", TELL.replace("PROBE", script) + "</body>")
    file = folder / "report.html"
    file.write_text(probed, encoding="utf-8")
    done = subprocess.run(
        [
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            f"--user-data-dir={folder / 'profile'}",
            "--dump-dom",
            f"--window-size={width},900",
            file.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    told = re.search(r'data-seen="([^"]*)"', done.stdout)
    assert told, done.stderr[-2000:]
    seen: dict[str, Any] = json.loads(unescape(told[1]))
    return seen


@contextmanager
def listening() -> Iterator[tuple[str, list[str]]]:
    """A server that writes down what is asked of it."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *words: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.browser
def test_a_browser_shows_another_cluster_on_a_click(
    browser: str, tmp_path: Path
) -> None:
    report = make_report(4)
    script = """
      const card = document.getElementById("cue-3");
      const frame = card.querySelector(".sheet img");
      const shown = () => card.open && frame.getClientRects().length > 0;
      const before = shown();
      card.querySelector("summary").click();
      const after = shown();
      document.getElementById("toggle").click();
      const pictures = [...document.images];
      const medoid = card.querySelector(".medoid").getBoundingClientRect();
      const other = card.querySelector("figure:not(.medoid)").getBoundingClientRect();
      location.hash = "#cue-2";
      return {
        before, after, pictures: pictures.length,
        widths: [...new Set(pictures.map((image) => image.naturalWidth))],
        open: document.querySelectorAll("details.card[open]").length,
        ratio: medoid.width / other.width, ahead: medoid.left < other.left,
        copy: !document.getElementById("copy").hidden,
        button: document.getElementById("toggle").textContent,
      };
    """
    page = render(report, make_pictures(report))
    seen = probe(browser, page, script, tmp_path)
    assert (seen["errors"], seen["blocked"], seen["fetched"]) == ([], [], [])
    assert (seen["before"], seen["after"]) == (False, True)
    assert seen["open"] == 4
    # cards, a contrast, the dialog
    assert seen["pictures"] == 4 * (MAX_TILES + 1) + 4 + 1
    assert set(seen["widths"]) == {60, 0}  # nothing is enlarged yet
    assert seen["ratio"] > 2
    assert seen["ahead"]
    assert seen["copy"]


def test_a_finding_shows_samples_with_the_cue_beside_others() -> None:
    report = make_report(2)
    page = Page(render(report, make_pictures(report)))
    start, end = (
        page.text.index("with it: 50% of 2 right"),
        page.text.index("The first two of each"),
    )
    shown = page.text[start:end]
    assert (
        "held still: moving south right answer: moving east model says moving south"
        in shown
    )
    assert shown.count("✗ wrong") == 1
    assert shown.count("✓ right") == 3
    assert page.text.index("red background changes the TRoVe score") < start


def test_a_finding_says_where_and_outlines_it_on_its_pictures() -> None:
    report = make_report(2)
    key = report.findings[0].feature
    mask = np.zeros((4, 4), bool)
    mask[0, 2:] = True
    portrait = Portrait(
        feature=key,
        name="white mark, top right",
        where="top right",
        what="brighter",
        area=0.125,
        auroc=0.93,
        outlines=(Outline.of(mask),),
    )
    shown = Report.model_validate_json(
        report.model_copy(update={"portraits": (portrait,)}).model_dump_json()
    )
    page = Page(render(shown, make_pictures(shown)))
    assert (
        "Where: top right, 12% of the frame. What changes there: brighter" in page.text
    )
    assert "AUROC of 0.93" in page.text
    assert shown.names[key] == "red background"  # a check found it
    unchecked = shown.model_copy(update={"evidence": ()})
    assert unchecked.names[key].endswith(" (a guess: white mark, top right)")
    plain = Page(render(report, make_pictures(report)))
    assert not plain.classed("outline")
    images = len(page.classed("medoid")) + len(report.contrasts[0].sides[0].exhibits)
    assert len(page.classed("outline")) >= images
    legend = "The outline is where the cue is"
    assert (legend in plain.text, legend in page.text) == (False, True)


def test_a_long_note_takes_the_width_of_the_page() -> None:
    told = {"rule": "it is large. " * 20, "looks": "one <b>"}
    page = render(make_report(0, evidence=(), notes=told), {})
    assert '<div class="wide"><dt>rule</dt>' in page
    assert "<div><dt>looks</dt><dd>one &lt;b&gt;</dd></div>" in page


def test_a_notebook_shows_the_same_contrast_with_small_pictures() -> None:
    report = make_report(2)
    html = fragment(report, make_pictures(report, (900, 600)))
    page = Page(html)
    start, end = (
        page.text.index("with it: 50%"),
        page.text.index("The first two of each"),
    )
    shown = page.text[start:end]
    assert (
        "held still: moving south right answer: moving east model says moving south"
        in shown
    )
    assert (shown.count("✗"), shown.count("✓")) == (1, 3)
    sizes = [
        Image.open(BytesIO(b64decode(image))).size
        for image in re.findall(r"base64,([^\"]+)", html)
    ]
    assert len(sizes) >= 4
    assert set(sizes) == {(SIDE, SIDE * 2 // 3)}


def test_a_feature_is_one_finding_with_the_labels_below_it() -> None:
    report = make_report(1)
    scores = [
        s.model_copy(update={"finding": s in report.headlines}) for s in report.scores
    ]
    page = Page(render(make_report(1, scores=tuple(scores)), {}))
    assert len(page.classed("one")) == 1
    assert len(page.classed("lede")) == 1
    assert page.text.count("red background is on screen, 'moving") == 2


def test_a_model_at_chance_is_said() -> None:
    at_chance = Accuracy(correct=130, answered=480, chance=0.25)
    text = Page(render(make_report(accuracy=at_chance), {})).text
    assert "480 samples, 27.1% correct; chance level 25.0%" in text
    assert "Accuracy is at chance" in text
    good = Accuracy(correct=40, answered=100, chance=0.25)
    text = Page(render(make_report(accuracy=good), {})).text
    assert "Accuracy is at chance" not in text
    assert "40.0% correct; chance level 25.0%" in text
    one_label = Accuracy(correct=9, answered=10, chance=1)
    text = Page(render(make_report(accuracy=one_label), {})).text
    assert (
        "all samples have one label (or one choice): there is nothing to guess" in text
    )
    assert "not clearly" not in text
    # the method's own test has the word
    tested = good.model_copy(update={"p_value": 0.2})
    assert "at chance" in Page(render(make_report(accuracy=tested), {})).text


@pytest.mark.browser
def test_pictures_enlarge_and_arrow_keys_walk(browser: str, tmp_path: Path) -> None:
    report = make_report(2)
    script = """
      const views = [...document.querySelectorAll(".enlarge")];
      views[0].click();
      const dialog = document.querySelector("dialog");
      const caption = () => dialog.querySelector("p").textContent;
      const first = caption(), open = dialog.open;
      dialog.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight"}));
      const second = caption();
      dialog.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowLeft"}));
      return {open, first, second, again: caption(), views: views.length};
    """
    seen = probe(browser, render(report, make_pictures(report)), script, tmp_path)
    assert seen["errors"] == []
    assert seen["open"]
    assert seen["views"] == 4
    assert "test/00000" in seen["first"]
    assert "test/00001" in seen["second"]
    assert seen["again"] == seen["first"]


@pytest.mark.browser
def test_axe_finds_no_fault(browser: str, tmp_path: Path) -> None:
    """Contrast, names and order, light and dark, on a screen and on a telephone."""
    tables = (Table.of("Its parts", ("part", "n"), [("one", 2)], "As counted."),)
    report = make_report(4).model_copy(update={"tables": tables})
    file = tmp_path / "report.html"
    file.write_text(render(report, make_pictures(report)), encoding="utf-8")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=browser, args=["--no-sandbox"]
        )
        page = chromium.new_page()
        page.goto(file.as_uri())
        page.evaluate(
            "document.querySelectorAll('details').forEach(d => d.open = true)"
        )
        for scheme, width in product(("light", "dark"), (1200, 390)):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 844})
            faults = Axe().run(page).response["violations"]
            assert not faults, [(one["id"], one["nodes"][0]["html"]) for one in faults]
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        chromium.close()


@pytest.mark.browser
def test_hostile_words_do_nothing_in_a_browser(browser: str, tmp_path: Path) -> None:
    with listening() as (address, asked):
        attack = f"{HOSTILE}<img src='{address}/image'><script src='{address}/script'></script>"
        report = rewritten(make_report(3), lambda words: attack + words)
        script = """
          return {title: document.title, wide: document.documentElement.scrollWidth - innerWidth,
                  scripts: document.scripts.length};
        """
        seen = probe(
            browser, render(report, make_pictures(report)), script, tmp_path, width=500
        )
    assert asked == []
    assert (seen["errors"], seen["blocked"], seen["fetched"]) == ([], [], [])
    assert seen["title"] != "taken"
    assert seen["scripts"] == 1 + 2  # the page's own, and the two that watch it
    assert seen["wide"] <= 0  # long words wrap


def test_a_finding_stands_before_what_was_not_decided() -> None:
    """A cue without a figure is told after those that are found, and leads where none is."""
    report = make_report()
    *found, last = report.headlines
    open_words = "nobody can tell."
    update = {"value": None, "low": None, "high": None, "finding": False}
    undecided = last.model_copy(update=update | {"statement": open_words})
    tried = found[-1].model_copy(
        update={"finding": False, "always_reported": True, "statement": "it is none."}
    )
    both = report.model_copy(update={"scores": (found[0], tried, undecided)})
    text = Page(render(both, {})).text
    finding = text.index(both.sentence(found[0]) or "")
    assert finding < text.index("it is none.")
    assert open_words not in text[:finding]
    alone = report.model_copy(update={"scores": (tried, undecided)})
    assert Page(render(alone, {})).text.index(open_words) > 0
