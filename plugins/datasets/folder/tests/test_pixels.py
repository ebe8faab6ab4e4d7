"""What is shown is what the file holds, now: changed files are named, odd ones seen as they are."""

import numpy as np
import pytest
from media_files import OddImage

from cuescope_sdk import BadDataError


def test_files_that_change_during_an_audit_are_named(data, image, video, gif, opened):
    paths = [
        image(data / "a" / "1.png"),
        video(data / "a" / "2.mp4", 2),
        gif(data / "a" / "3.gif", 2),
    ]
    for path, sample in zip(paths, opened(), strict=True):
        path.write_bytes(b"something else")
        changed = (
            f"{path.name} has changed since it was listed: expected the file as it was"
        )
        with pytest.raises(BadDataError, match=changed):
            sample.frames[0].load()
        path.unlink()
        with pytest.raises(BadDataError, match="got No such file or directory"):
            sample.frames[0].load()


def test_a_rewritten_file_is_decoded_anew(data, video, opened):
    path = video(data / "a" / "1.mp4", 2)
    before = opened(frames=2)[0].frames[1]
    assert before.load().size == (48, 32)
    video(path, 5)
    after = opened(frames=2)[0].frames[1]
    assert after.key != before.key
    assert np.asarray(after.load()).mean() > np.asarray(before.load()).mean() + 20


@pytest.mark.parametrize("odd", OddImage.every(), ids=lambda odd: odd.name)
def test_odd_images_are_seen_as_they_are(data, opened, odd):
    (data / "a").mkdir()
    odd.write(data / "a")
    (sample,) = opened(frames=2)
    assert odd.is_seen_in(np.asarray(sample.frames[0].load()))
    assert len(sample.frames) == (2 if odd.name == "animated.gif" else 1)
