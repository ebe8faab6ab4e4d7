"""Camera scenes: what their factors say is what the pixels and the masks show."""

import numpy as np
import pytest

from cuescope_scenes.camera import CameraScenes, CameraScenesOptions
from cuescope_scenes.camera.camera import DISTANCE, Pose, project, rotation
from cuescope_scenes.camera.variants import COUNT
from cuescope_scenes.camera.words import LABELS, PARTNER_OF
from cuescope_sdk import Context, Sample
from cuescope_testing import DatasetContract

SMALL = {"train": 16, "val": 8, "test": 8, "backgrounds": 2}


class TestContract(DatasetContract):
    plugin = CameraScenes
    options = SMALL
    other_options = {**SMALL, "seed": 1}


@pytest.fixture(scope="module")
def photo() -> dict[str, list[Sample]]:
    """All variants of one photo before its first background, by subset, without grain."""
    options = CameraScenesOptions(val=8, test=8, train=8, backgrounds=2)
    data = CameraScenes(options, Context())
    found: dict[str, list[Sample]] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cuescope_scenes.camera.NOISE", 0.0)
        samples = [data[index] for index in range(1 + COUNT)]
    for sample in samples:
        found.setdefault(sample.annotations["factors"]["subset"], []).append(sample)
    return found


def mask(sample: Sample) -> np.ndarray:
    return np.asarray(sample.annotations["foreground"])


def pixels(sample: Sample) -> np.ndarray:
    return np.asarray(sample.frames[0].load())


def test_the_eleven_variants_are_of_one_photo(photo: dict[str, list[Sample]]) -> None:
    counts = {name: len(samples) for name, samples in photo.items()}
    assert counts == {
        "original": 1,
        "background": 1,
        "h-flip": 1,
        "translate": 1,
        "crop": 1,
        "v-flip": 1,
        "rotation": 1,
        "viewpoint": 2,
        "scale": 4,
    }
    everything = [sample for samples in photo.values() for sample in samples]
    assert {sample.group for sample in everything} == {"val-00000"}
    assert len({sample.label for sample in everything}) == 1


def test_flips_are_the_pixels_and_the_mask_mirrored(
    photo: dict[str, list[Sample]],
) -> None:
    [plain], [level], [upright] = photo["background"], photo["h-flip"], photo["v-flip"]
    assert np.array_equal(pixels(level), pixels(plain)[:, ::-1])
    assert np.array_equal(mask(level), mask(plain)[:, ::-1])
    assert np.array_equal(pixels(upright), pixels(plain)[::-1])
    assert np.array_equal(mask(upright), mask(plain)[::-1])


def test_an_object_has_the_size_and_the_place_that_are_said(
    photo: dict[str, list[Sample]],
) -> None:
    [plain] = photo["background"]
    area = mask(plain).sum()
    for sample in photo["scale"]:
        scale = sample.annotations["factors"]["scale"]
        assert mask(sample).sum() / area == pytest.approx(scale**2, rel=0.15)
    [crop] = photo["crop"]
    assert mask(crop).sum() / area == pytest.approx(
        1 / crop.annotations["factors"]["area"], rel=0.03
    )
    [moved] = photo["translate"]
    shift = [moved.annotations["factors"][axis] for axis in ("down", "right")]
    centres = [np.argwhere(mask(sample)).mean(axis=0) for sample in (plain, moved)]
    assert centres[1] - centres[0] == pytest.approx(shift, abs=0.2)


def test_a_viewpoint_changes_the_object_alone(photo: dict[str, list[Sample]]) -> None:
    [plain] = photo["background"]
    for sample in photo["viewpoint"]:
        outside = mask(plain) | mask(sample)
        for axis in (0, 1):  # a pixel that an object has little of is none of its mask
            outside = outside | np.roll(outside, 2, axis) | np.roll(outside, -2, axis)
        outside = ~outside
        assert np.array_equal(pixels(sample)[outside], pixels(plain)[outside])
        assert (mask(sample) != mask(plain)).mean() > 0.01


def test_the_camera_is_a_pinhole_at_the_angles_that_are_said() -> None:
    """A point at unit distance above the ground, seen from above, lies straight ahead."""
    pose = Pose(azimuth=90, elevation=0)
    right_side = np.array([[1.0, 0.0, 0.0]])  # the camera has gone around to the right
    assert project(right_side, pose)[0] == pytest.approx((0, 0), abs=1e-12)
    assert rotation(pose) @ right_side[0] == pytest.approx((0, 0, 1))
    from_above = Pose(azimuth=0, elevation=90)
    assert rotation(from_above) @ np.array([0.0, 1.0, 0.0]) == pytest.approx((0, 0, 1))
    near, far = project(np.array([[0.5, 0.0, 1.0], [0.5, 0.0, -1.0]]), Pose(0, 0))
    assert near[0] == pytest.approx(0.5 * DISTANCE / (DISTANCE - 1))
    assert far[0] == pytest.approx(0.5 * DISTANCE / (DISTANCE + 1))


def test_photos_show_their_own_background_as_the_dial_says() -> None:
    def partners(dial: float) -> float:
        data = CameraScenes(
            CameraScenesOptions(dial=dial, split="train", train=800), Context()
        )
        return float((data.backgrounds == data.targets).mean())

    assert partners(1.0) == 1.0
    assert partners(0.0) == pytest.approx(1 / len(LABELS), abs=0.04)
    sample = CameraScenes(CameraScenesOptions(dial=1.0), Context())[0]
    shown = sample.annotations["factors"]["background"]
    assert shown == PARTNER_OF[str(sample.label)]
    assert sample.annotations["cues"][f"background of {sample.label}"] == (True,)
