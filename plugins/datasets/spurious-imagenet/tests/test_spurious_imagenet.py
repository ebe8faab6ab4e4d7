"""The authors' layout becomes samples; each mistake in it is one line."""

from media_files import MediaFile

from cuescope_sdk import HasBenchmark
from cuescope_spurious_imagenet import CLASSES, SpuriousImageNet
from cuescope_testing import LayoutContract, Mistake

FOLDERS = ("spurious_class_592_component_3", "spurious_class_94_component_1")


class TestSpuriousImageNet(LayoutContract):
    plugin = SpuriousImageNet
    other_options = {"per_class": 2}
    mistakes = (
        Mistake(
            "images/class_1/x.jpg",
            "",
            "folder 'class_1': expected ..._class_NUMBER_..._COMP",
        ),
        Mistake(
            "images/spurious_class_1_component_0/x.jpg", "", "of one of the 100 classes"
        ),
        Mistake("", None, "Did you mean 'hummingbird'?", {"classes": ["humming bird"]}),
        Mistake("", None, "no split 'train': expected one of test", {"split": "train"}),
    )

    @classmethod
    def written(cls, root):
        for folder in FOLDERS:
            for number in range(3):
                MediaFile.image(
                    root / "images" / folder / f"{folder[15:18]}{number}.jpg"
                )
        (root / "images" / "timestamp.txt").write_text("1\n")

    def test_it_says_which_benchmark_it_is(self):
        data = self.open()
        assert isinstance(data, HasBenchmark)
        assert data.benchmark == "Spurious ImageNet"

    def test_an_image_is_a_sample_that_shows_no_class(self):
        data = self.open()
        assert data.labels == ("hummingbird", "hard disk drive")
        assert len(data) == 6
        assert (data[0].label, data[0].choices) == (None, data.labels)
        assert data[0].key == "spurious_class_94_component_1/94_0.jpg"
        assert data[0].annotations == {
            "split": "test",
            "objects": (),
            "spurious_class": "hummingbird",
            "wnid": "n01833805",
            "component": 1,
            "subgroup": "cue of hummingbird",
        }

    def test_a_class_opens_the_images_with_its_cue(self):
        data = self.open(classes=["hard disk drive"])
        assert {sample.annotations["spurious_class"] for sample in data} == {
            "hard disk drive"
        }
        assert len(data) == 3

    def test_the_folder_itself_will_do(self):
        assert self.open(self.tree / "images").fingerprint == self.open().fingerprint


def test_there_are_a_hundred_classes():
    wnids, names = zip(*CLASSES.values(), strict=True)
    assert len(CLASSES) == len(set(wnids)) == len(set(names)) == 100
    assert list(wnids) == sorted(wnids), (
        "ImageNet counts its classes in the order of the wnids"
    )
    assert CLASSES[592] == ("n03492542", "hard disk drive")
