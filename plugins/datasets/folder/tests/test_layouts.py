"""Each layout of class folders becomes the samples it promises, with the pixels it promises."""

import pickle
from pathlib import Path, PurePosixPath

import numpy as np
import pytest

from cuescope_folder import Folder, FolderOptions
from cuescope_folder.layout import has_classes, leading, natural
from cuescope_sdk import UserError


def levels(sample, step):
    """Frame numbers as the pixels show them."""
    return [
        round(float(np.asarray(frame.load()).mean()) / step) for frame in sample.frames
    ]


def test_images_in_class_folders(data, image, opened):
    image(data / "cat" / "b10.png", 40)
    image(data / "cat" / "b9.png", 80)
    image(data / "moving_east" / "x.JPG", 160)
    folder = opened()
    assert folder.labels == ("cat", "moving east")
    assert [sample.key for sample in folder] == [
        "cat/b9.png",
        "cat/b10.png",
        "moving_east/x.JPG",
    ]
    assert [sample.label for sample in folder] == ["cat", "cat", "moving east"]
    assert all(sample.choices == folder.labels for sample in folder)
    assert [len(sample.frames) for sample in folder] == [1, 1, 1]
    first = folder[0].frames[0].load()
    assert (first.mode, first.size) == ("RGB", (16, 12))
    assert np.unique(np.asarray(first)).tolist() == [80]
    assert folder.facts == {"files": "3 images", "skipped": "none"}
    assert folder.planted_cues == ()


@pytest.mark.parametrize("suffix", ["png", "jpg", "webp", "bmp", "tiff"])
def test_image_formats(data, image, opened, suffix):
    image(data / "a" / f"x.{suffix}", 120)
    pixels = np.asarray(opened()[0].frames[0].load())
    assert pixels.shape == (12, 16, 3)
    assert abs(pixels.astype(int) - 120).max() <= 2


@pytest.mark.parametrize(
    ("name", "codec"),
    [
        ("c.mp4", "libx264"),
        ("c.avi", "mpeg4"),
        ("c.mkv", "mpeg4"),
        ("c.webm", "libvpx-vp9"),
        ("c.mov", "mpeg4"),
    ],
)
def test_videos_are_sampled_uniformly(data, video, opened, step, name, codec):
    video(data / "a" / name, 12, codec)
    folder = opened(frames=4)
    assert levels(folder[0], step) == [1, 4, 7, 10]
    assert folder.facts["files"] == "1 clip"
    assert levels(opened(frames=12)[0], step) == list(range(12))


def test_a_frame_has_one_key_however_many_are_sampled(data, video, opened):
    video(data / "a" / "c.mp4", 12)
    every = {frame.key for frame in opened(frames=12)[0].frames}
    assert len(every) == 12
    assert {frame.key for frame in opened(frames=4)[0].frames} < every


def test_short_clips_repeat_frames_in_order(data, video, opened, step):
    video(data / "a" / "c.mp4", 3)
    sample = opened(frames=6)[0]
    assert levels(sample, step) == [0, 0, 1, 1, 2, 2]
    assert sample.frames[0].key == sample.frames[1].key != sample.frames[2].key


def test_gifs_move_and_still_gifs_are_images(data, gif, opened, step):
    gif(data / "a" / "moving.gif", 6)
    gif(data / "a" / "still.gif", 1)
    moving, still = opened(frames=3)
    assert levels(moving, step) == [1, 3, 5]
    assert len(still.frames) == 1
    assert levels(still, step) == [0]


def test_frame_folders_are_clips_in_natural_order(data, image, opened):
    for number in range(1, 13):
        image(data / "a" / "clip" / f"frame{number}.png", number * 10)
    image(data / "b" / "alone.png")
    clip, alone = opened(frames=4)
    assert clip.key == "a/clip"
    shown = [np.asarray(frame.load())[0, 0, 0] // 10 for frame in clip.frames]
    assert shown == [2, 5, 8, 11]
    assert len(alone.frames) == 1


def test_split_folders(data, image, opened):
    image(data / "train" / "cat" / "1.png")
    image(data / "train" / "dog" / "1.png")
    image(data / "validation" / "cat" / "2.png")
    everything = opened()
    assert [sample.annotations["split"] for sample in everything] == [
        "train",
        "train",
        "val",
    ]
    val = opened(split="val")
    assert [sample.key for sample in val] == ["validation/cat/2.png"]
    assert val.labels == ("cat", "dog")
    assert [sample.key for sample in val.split("train")] == [
        "train/cat/1.png",
        "train/dog/1.png",
    ]
    assert len(opened(split="validation")) == 1
    with pytest.raises(
        UserError, match=r"no split 'tran'.* one of train, val\. .*'train'"
    ):
        opened(split="tran")


def test_a_folder_without_splits_says_so(data, image, opened):
    image(data / "a" / "1.png")
    with pytest.raises(UserError, match="no splits"):
        opened().split("val")


@pytest.mark.parametrize(
    ("files", "above", "classes"),
    [
        (("train/cat/1.png", "test/cat/1.png"), 1, True),
        (("train/images/cat/1.png", "test/images/dog/1.png"), 2, True),
        (("images/cat/1.png", "images/dog/1.png"), 1, True),
        # a vehicle, for another class stands beside it
        (("train/1.png", "bus/1.png"), 0, True),
        (("train/1.png", "test/1.png"), 0, False),
        (("image_2/1.png",), 0, False),
        (("1.png",), 0, True),
    ],
)
def test_names_of_splits_and_parts_are_no_classes(files, above, classes):
    paths = [PurePosixPath(file) for file in files]
    assert leading(paths) == above
    assert has_classes(paths) == classes


def test_samples_survive_pickling(data, image, video, gif, opened):
    image(data / "a" / "1.png", 70)
    gif(data / "a" / "2.gif", 4)
    video(data / "a" / "3.mp4", 4)
    for sample in opened(frames=2):
        copy = pickle.loads(pickle.dumps(sample))
        for here, there in zip(sample.frames, copy.frames, strict=True):
            assert np.array_equal(here.load(), there.load())
            assert here.key == there.key


def test_a_loaded_frame_can_be_drawn_on_without_harm(data, video, opened):
    video(data / "a" / "1.mp4", 4)
    frame = opened(frames=2)[0].frames[0]
    frame.load().paste((255, 0, 0), (0, 0, 48, 32))
    assert np.asarray(frame.load())[0, 0, 0] < 60


def test_keys_follow_content_not_names(data, image, opened):
    one, two = image(data / "a" / "1.png", 10), image(data / "a" / "2.png", 10)
    keys = [sample.frames[0].key for sample in opened()]
    assert keys[0] == keys[1]
    image(two, 11)
    after = [sample.frames[0].key for sample in opened()]
    assert after[0] == keys[0]
    assert after[1] != keys[1]
    assert one.exists()


def test_fingerprint_is_of_what_is_shown(data, image, video, opened, tmp_path):
    image(data / "a" / "1.png")
    video(data / "b" / "2.mp4", 8)
    first = opened().fingerprint
    assert opened().fingerprint == first
    data.rename(tmp_path / "moved")
    assert opened(path=tmp_path / "moved").fingerprint == first
    assert opened(path=tmp_path / "moved", frames=4).fingerprint != first
    assert opened(path=tmp_path / "moved", choices=("a", "b", "c")).fingerprint != first
    (tmp_path / "moved" / "a" / "1.png").rename(tmp_path / "moved" / "b" / "1.png")
    (tmp_path / "moved" / "a").rmdir()
    assert opened(path=tmp_path / "moved").fingerprint != first


def test_loose_files_alone_are_samples_without_labels(data, image, opened):
    image(data / "2.png")
    image(data / "10.png")
    folder = opened()
    assert [sample.key for sample in folder] == ["2.png", "10.png"]
    assert folder.labels == ()
    assert {(sample.label, sample.choices) for sample in folder} == {(None, ())}


def test_hidden_files_are_passed_over_and_loose_ones_counted(data, image, opened):
    image(data / "a" / "1.png")
    image(data / "a" / "._1.png")
    image(data / ".thumbs" / "1.png")
    image(data / "loose.png")
    folder = opened()
    assert [sample.key for sample in folder] == ["a/1.png"]
    assert folder.facts["ignored"] == "1 outside the class folders"


def test_a_run_among_the_data_is_no_data(data, image, opened, context):
    image(data / "a" / "1.png")
    before = opened()
    run = data / "a" / "out"
    image(run / "pictures" / "1.png")
    (run / "report.html").touch()
    # a page alone may be anybody's
    assert len(opened()) == 2
    (run / "report.json").touch()
    folder = opened()
    assert [sample.key for sample in folder] == ["a/1.png"]
    assert folder.fingerprint == before.fingerprint
    assert "1 folders of runs" in folder.facts["left out"]
    # it may be named itself
    assert len(Folder(FolderOptions(path=run), context)) == 1


def test_choices(data, image, opened):
    image(data / "cat" / "1.png")
    assert opened(choices=("dog", "cat"))[0].choices == ("dog", "cat")
    (data / "labels.txt").write_text("dog\n\ncat\nowl, barn\n")
    assert opened(choices=("labels.txt",)).labels == ("dog", "cat", "owl, barn")
    with pytest.raises(
        UserError, match=r"'cat' is none of the choices.*Did you mean 'cats'\?"
    ):
        opened(choices=("cats", "dogs"))
    with pytest.raises(UserError, match="which is no file"):
        opened(choices=("lables.txt",))


def test_natural_order():
    names = ["f10", "f2", "F1", "f1b", "f01", "²", "f"]
    assert sorted(names, key=natural) == ["f", "F1", "f01", "f1b", "f2", "f10", "²"]


def test_file_names_that_are_no_unicode(data, image, opened):
    try:
        (data / "a").mkdir()
        Path(image(data / "a" / "1.png")).rename(data / "a" / "\udcff.png")
    except OSError:
        pytest.skip("needs a file system that takes any bytes as a name")
    sample = opened()[0]
    assert sample.key == "a/\\udcff.png"
    assert sample.frames[0].load().size == (16, 12)


@pytest.mark.parametrize("split", ["", "train/"])
def test_class_folders_without_files_are_named(data, image, opened, split):
    image(data / f"{split}cat" / "a.png", 40)
    (data / f"{split}dog").mkdir()
    (data / f"{split}zebra").mkdir()
    (data / f"{split}zebra" / "notes.txt").write_text("none yet")
    (data / f"{split}.hidden").mkdir()
    assert opened().facts["empty classes"] == f"{split}dog, {split}zebra"
    image(data / f"{split}dog" / "b.png", 40)
    image(data / f"{split}zebra" / "b.png", 40)
    assert "empty classes" not in opened().facts


@pytest.mark.parametrize("wrapper", ["", "pets-v1.2", "pets-v1.2/set"])
@pytest.mark.parametrize(
    ("above", "splits"),
    [
        ([""], {None}),
        (["train", "test"], {"train", "test"}),
        (["train_images", "val-images"], {"train", "val"}),
        (["images/Train", "images/Valid"], {"train", "val"}),
        (["fold_1", "fold_2", "fold_3"], {"fold_1", "fold_2", "fold_3"}),
    ],
)
@pytest.mark.parametrize("mask", ["", "_mask", "-masks", "_mask_1"])
def test_classes_are_found_in_whatever_an_archive_puts_around_them(
    data, image, opened, wrapper, above, splits, mask
):
    for folder in above:
        for label in ("cat", "dog"):
            for number in range(3):
                place = data / wrapper / folder / label
                image(place / f"{number}.png", 7 * number)
                if mask:
                    image(place / f"{number}{mask}.png")
    shadow = data / "__MACOSX" / wrapper / "._a"
    shadow.parent.mkdir(parents=True)
    shadow.write_bytes(b"x")
    folder = opened()
    assert folder.labels == ("cat", "dog")
    assert {sample.annotations.get("split") for sample in folder} == splits
    assert len(folder) == 6 * len(above)
    assert ("notes" in folder.facts) == bool(mask)


def test_classes_in_two_levels_are_refused_unless_said(data, image, opened):
    for upper in ("raw", "processed"):
        for label in ("cat", "dog"):
            for number in range(3):
                image(data / upper / label / f"{number}.png", 7 * number)
    with pytest.raises(UserError, match="cat, dog in one folder, got them in each of"):
        opened()
    assert opened(nested="photos").labels == ("processed", "raw")
    assert opened(path=data / "raw").labels == ("cat", "dog")


@pytest.mark.parametrize("labels", [("run", "walk"), ("walk",)])
@pytest.mark.parametrize("clip", ["seq", "val-00", "fold"])
def test_clips_that_are_numbered_are_no_classes(data, image, opened, labels, clip):
    for label in labels:
        for number in range(6):
            place = data / label / f"{clip}{number % 2}"
            image(place / f"{number}.png", number)
    assert opened().labels == labels


def test_classes_that_differ_in_case_alone_are_named(data, image, opened):
    image(data / "Cat" / "1.png", 1)
    image(data / "cat" / "2.png", 2)
    image(data / "dog" / "3.png", 3)
    assert opened().facts["classes that differ in case alone"] == "cat"
