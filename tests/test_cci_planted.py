"""A CLIP that answers by the background is told so, by who knows nothing of how it was trained."""

import pytest

from cuescope.application import Runner
from cuescope_scenes.words import PARTNER_OF
from cuescope_sdk import Context, Report, Request

# of less, the method's own tests find planted backgrounds in answers that are made up
pytestmark = pytest.mark.long


@pytest.fixture(scope="module", params=[1, 3])
def report(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Report:
    """The shipped toy CLIP on balanced scenes; each error's maps by so many `starts`."""
    folder = tmp_path_factory.mktemp("planted")
    asked = Request(
        method="cci",
        model="toy-clip",
        data="scenes",
        limit=100,
        device="cpu",
        method_options={"starts": request.param},
    )
    return Runner(Context(cache=folder / "cache", device="cpu"), folder / "runs").run(
        asked
    )


def test_the_background_ranks_first_and_misleads(report: Report) -> None:
    first = report.findings[0]
    assert (report.names[first.feature], first.label) == ("the background", None)
    assert first.q_value is not None
    assert first.q_value < 0.01
    assert "the background decides the answer" in (report.sentence(first) or "")
    [bg_er] = [
        s
        for s in report.scores
        if s.metric == "bg_er" and s.feature == first.feature and not s.label
    ]
    assert bg_er.value is not None
    assert bg_er.value >= 0.8


def test_backgrounds_are_found_with_the_class_they_were_planted_for(
    report: Report,
) -> None:
    """And nothing else: neither colours nor sizes nor focus."""
    planted = {(f"background: {name}", label) for label, name in PARTNER_OF.items()}
    found = {
        (report.names[score.feature], score.label) for score in report.findings[1:]
    }
    assert found <= planted
    assert len(found) >= 5


def test_the_page_shows_the_errors_beside_their_maps(report: Report) -> None:
    titles = [picture.title for picture in report.pictures]
    assert "Wrong answers that rely on the background" in titles
    tables = {table.title: table for table in report.tables}
    assert tables["What the wrong answers rely on"].rows[0]["group"] == "all images"
