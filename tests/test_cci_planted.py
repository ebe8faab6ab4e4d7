"""A CLIP that answers by the background is told so, by who knows nothing of how it was trained."""

import pytest

from cuescope_sdk import Context, Report, Request, Runner


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The shipped toy CLIP on balanced scenes."""
    folder = tmp_path_factory.mktemp("planted")
    request = Request(
        method="cci",
        model="toy-clip",
        data="scenes",
        limit=100,
        device="cpu",
        method_options={"faithfulness": 12, "steps": 10, "pictures": 1},
    )
    return Runner(Context(cache=folder / "cache", device="cpu"), folder / "runs").run(request)


def test_the_background_ranks_first_and_misleads(report: Report) -> None:
    first = report.findings[0]
    assert (report.names[first.feature], first.label) == ("the background", None)
    assert first.value is not None
    assert first.value >= 0.8
    assert first.q_value is not None
    assert first.q_value < 0.01
    assert "come from the background" in (report.sentence(first) or "")


def test_errors_are_called_as_they_were_planted(report: Report) -> None:
    [planted] = [check for check in report.evidence if check.check == "planted background"]
    assert planted.verdict == "supported"
    assert planted.value is not None
    assert planted.value >= 0.9
    assert (planted.n or 0) >= 50


def test_the_page_shows_the_errors_beside_their_maps(report: Report) -> None:
    titles = [picture.title for picture in report.pictures]
    assert "Wrong answers that came from the background" in titles
    assert any(title.startswith("Deletion of") for title in titles)
    tables = {table.title: table for table in report.tables}
    assert tables["Where the errors come from"].rows[0]["group"] == "all images"
    assert any(title.startswith("Faithfulness") for title in tables)
