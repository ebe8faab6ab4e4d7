"""Results of a bench that outlive it: the rest is done, and what was damaged is done again."""

from functools import partial
from pathlib import Path

import pytest

from cuescope_sdk import Context, write_sealed
from cuescope_sdk.workers import KeptJobs

done: list[int] = []


def square(number: int) -> dict[str, int]:
    done.append(number)
    return {"square": number**2}


@pytest.fixture
def kept(tmp_path: Path) -> KeptJobs:
    done.clear()
    return KeptJobs(tmp_path / "kept", ["settings"], workers=1)


def run(kept: KeptJobs, *numbers: int) -> dict[str, dict[str, int]]:
    jobs = {str(number): partial(square, number) for number in numbers}
    return kept.run(jobs, Context(), "squares")


def test_only_the_rest_is_done(kept: KeptJobs) -> None:
    run(kept, 1, 2)
    results = run(kept, 1, 2, 3)
    assert results == {str(number): {"square": number**2} for number in (1, 2, 3)}
    assert done == [1, 2, 3]


def test_an_edited_result_is_done_again_with_one_warning(kept: KeptJobs) -> None:
    run(kept, 1, 2, 3)
    for name in ("1", "3"):
        file = kept.file(name)
        file.write_text(file.read_text().replace('"square": ', '"square": 4'))
    with pytest.warns(UserWarning, match="done again, 2 of 3") as caught:
        assert run(kept, 1, 2, 3)["3"] == {"square": 9}
    assert len(caught) == 1
    assert done == [1, 2, 3, 1, 3]
    run(kept, 1, 2, 3)
    assert len(done) == 5


@pytest.mark.parametrize("content", [b"[]", b"{}", b"7", b"[" * 100_000, b"\xff"])
def test_a_sealed_result_that_is_none_is_done_again(
    kept: KeptJobs, content: bytes
) -> None:
    """Whoever mails a cache can compute a seal."""
    run(kept, 1)
    write_sealed(kept.file("1"), content)
    assert kept.read("1") is None
    with pytest.warns(UserWarning, match="done again, 1 of 1"):
        assert run(kept, 1)["1"] == {"square": 1}


def test_the_result_of_another_job_is_not_taken(kept: KeptJobs) -> None:
    run(kept, 1, 2)
    kept.file("1").write_bytes(kept.file("2").read_bytes())
    with pytest.warns(UserWarning, match="done again, 1 of 2"):
        assert run(kept, 1, 2)["1"] == {"square": 1}
