"""One bar with the time left of all, over each command that runs more than one audit."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from command_line import run, written_plugins

from cuescope.cli import whole
from cuescope.course import Course
from cuescope.runner import Runner
from cuescope_sdk import Report, Request, UserError

FAKES = """
[cuescope.models]
fake = cuescope_testing:FakeModel
[cuescope.datasets]
fakes = cuescope_testing:FakeDataset
"""
DATA = ("--data", "fakes", "-D", "samples=120", "-D", "scale=4")


class Courses(list[Course]):
    """Every course that is followed."""

    def make(self, *given: object) -> Course:
        self.append(Course(*given))  # type: ignore[arg-type]
        return self[-1]


@pytest.fixture
def courses(monkeypatch: pytest.MonkeyPatch) -> Courses:
    courses = Courses()
    monkeypatch.setattr(whole, "Course", courses.make)
    return courses


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("bar")
    with written_plugins(place, "bar_fakes", FAKES, ""):
        run(
            *("audit", "answers", "--model", "fake", *DATA, "-q"),
            *("--out", str(place / "found")),
        )
        yield place


def test_confirm_makes_the_run_again_and_tests_it(
    place: Path, tmp_path: Path, courses: Courses, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Runner.run

    def run_found(runner: Runner, request: Request, *, resume: bool = False) -> Report:
        if request.method == "confirm":
            raise UserError("the test itself would take minutes")
        return real(runner, request, resume=resume)

    monkeypatch.setattr(Runner, "run", run_found)
    words = ("--with", "blank", "-O", "samples=10", "--out", str(tmp_path / "test"))
    run("confirm", str(place / "found"), *words, code=2)
    [course] = courses
    assert course.done == ["answers (found)", "confirm"] == list(course.stages)
    again, test = course.stages.values()
    # its answers are known, and what it took beside them; those of the test are not
    assert again.inputs == 0 < again.seconds
    assert test.inputs > 0
    # a plan asks nothing, and has no bar
    run("confirm", str(place / "found"), *words, "--plan")
    assert len(courses) == 1


def test_mitigate_makes_the_run_again_for_each_fold(
    place: Path, tmp_path: Path, courses: Courses
) -> None:
    words = ("--with", "last-layer", "--placebos", "0", "--folds", "3")
    run("mitigate", str(place / "found"), *words, "--out", str(tmp_path / "mended"))
    [course] = courses
    runs = [f"answers (without-{fold})" for fold in (1, 2, 3)]
    assert course.done == [*runs, "mitigation"] == list(course.stages)


def test_a_file_of_audits_is_one_course(
    place: Path,
    tmp_path: Path,
    courses: Courses,
) -> None:
    file = tmp_path / "audits.yaml"
    audits = {
        "methods": ["answers", "looking"],
        "models": ["fake"],
        "data": [{"use": "fakes", "options": {"samples": 60, "scale": 4}}],
    }
    file.write_text(yaml.safe_dump(audits))
    run("run", str(file), "--out", str(tmp_path / "runs"))
    [course] = courses
    assert course.done == list(course.stages)
    answers, looking = course.stages.values()
    assert 0 < answers.inputs < looking.inputs
    run("run", str(file), "--out", str(tmp_path / "runs"))
    assert [stage.inputs for stage in courses[-1].stages.values()] == [0, 0]
