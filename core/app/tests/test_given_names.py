"""A name that a person gave stands before guesses and checks, and is kept beside the run."""

from pathlib import Path

import pytest

from cuescope.cue_names import MOST_CHARACTERS, give_names, read_names, renamed
from cuescope_core.conclusions import Evidence, Portrait
from cuescope_core.errors import UserError

from ...engine.tests.reports import make_report


def test_a_given_name_goes_before_all_others(tmp_path: Path) -> None:
    report = make_report()
    key = report.features[0].key
    told = report.model_copy(
        update={
            "portraits": (
                Portrait(
                    feature=key, name="red mark", where="top", what="more", auroc=1
                ),
            ),
            "evidence": (
                Evidence(
                    check="annotation",
                    verdict="supported",
                    detail="x",
                    feature=key,
                    name="BIRD",
                ),
            ),
        }
    )
    give_names(tmp_path, told, {key: " watermark "})
    assert read_names(tmp_path) == {key: "watermark"}
    assert renamed(told, read_names(tmp_path)).names[key] == "watermark"
    # places stay, and an empty name takes it back
    assert renamed(told, {key: "x"}).portraits[0].where == "top"
    give_names(tmp_path, told, {key: ""})
    assert renamed(told, read_names(tmp_path)).names[key] == "BIRD"


def test_a_name_of_no_cue_is_refused(tmp_path: Path) -> None:
    report = make_report()
    key = report.features[0].key
    with pytest.raises(UserError, match="a cue of this run"):
        give_names(tmp_path, report, {"nothing": "x"})
    with pytest.raises(UserError, match="too long"):
        give_names(tmp_path, report, {key: "x" * (MOST_CHARACTERS + 1)})


def test_a_changed_file_of_names_names_nothing(tmp_path: Path) -> None:
    report = make_report()
    give_names(tmp_path, report, {report.features[0].key: "watermark"})
    (tmp_path / "names.json").write_text("{}")
    with pytest.warns(UserWarning, match="is not what cuescope wrote"):
        assert read_names(tmp_path) == {}
    # the next name takes its place, and what was there stays beside it
    with pytest.warns(UserWarning, match=r"is kept as names\.json\.damaged-"):
        give_names(tmp_path, report, {report.features[0].key: "seam"})
    assert read_names(tmp_path) == {report.features[0].key: "seam"}
    [aside] = tmp_path.glob("names.json.damaged-*")
    assert aside.read_text() == "{}"
