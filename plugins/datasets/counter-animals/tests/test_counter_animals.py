"""The authors' layout becomes samples; each mistake in it is one line."""

from media_files import MediaFile

from cuescope_counter_animals import CounterAnimals
from cuescope_sdk import HasBenchmark, PlantedCue
from cuescope_testing import LayoutContract, Mistake

GROUPS = {
    "296 ice bear": ("common-snow", "counter-grass"),
    "9 ostrich": ("common-grass", "counter-water"),
}


class TestCounterAnimals(LayoutContract):
    plugin = CounterAnimals
    other_options = {"classes": ["ostrich"]}
    split_names = ("easy", "hard")
    mistakes = (
        Mistake(
            "LAION-final/9 ostrich/sky/1.jpg",
            "",
            "folder '9 ostrich/sky': expected common-BACKGROUND or counter-BACKGROUND",
        ),
        Mistake(
            "",
            None,
            "no class 'ice bare': expected one of ostrich, ice bear. Did you mean 'ice bear'?",
            {"classes": ["ice bare"]},
        ),
    )

    @classmethod
    def written(cls, root):
        for name, groups in GROUPS.items():
            for group in groups:
                for number in range(2):
                    MediaFile.image(
                        root / "LAION-final" / name / group / f"{name[:2]}{number}.jpg"
                    )
        (root / "LAION-final" / "imagenet_names.txt").write_text(
            "0\ttench, Tinca tinca\n"
        )
        (root / "LAION-final" / "notes").mkdir()

    def test_it_says_which_benchmark_it_is(self):
        data = self.open()
        assert isinstance(data, HasBenchmark)
        assert data.benchmark == "CounterAnimals"

    def test_the_common_background_is_the_cue_of_its_class(self):
        data = self.open()
        assert (
            data.planted_cues
            == self.open(split="hard").planted_cues
            == (
                PlantedCue(
                    key="grass background", name="grass background", labels=("ostrich",)
                ),
                PlantedCue(
                    key="snow background", name="snow background", labels=("ice bear",)
                ),
            )
        )
        assert [cue.key for cue in data.planted_cues] == list(
            data[0].annotations["cues"]
        )

    def test_a_photo_is_a_sample(self):
        data = self.open()
        assert data.labels == ("ostrich", "ice bear")
        assert len(data) == 8
        bear = data[4]
        assert (bear.key, bear.label) == (
            "296 ice bear/common-snow/290.jpg",
            "ice bear",
        )
        assert bear.annotations == {
            "split": "all",
            "objects": ("ice bear",),
            "factors": {"background": "snow", "difficulty": "easy"},
            "subgroup": "ice bear on snow",
            "class_number": 296,
            "cues": {"grass background": (False,), "snow background": (True,)},
        }
        hard = data[-1].annotations
        assert hard["factors"] == {"background": "grass", "difficulty": "hard"}
        assert hard["cues"] == {
            "grass background": (True,),
            "snow background": (False,),
        }

    def test_a_group_is_a_split(self):
        easy, hard = self.open().split("easy"), self.open(split="hard")
        sides = [
            {s.annotations["factors"]["difficulty"] for s in data}
            for data in (easy, hard)
        ]
        assert sides == [{"easy"}, {"hard"}]
        assert easy.labels == hard.labels == ("ostrich", "ice bear")

    def test_a_folder_without_classes_is_refused(self, tmp_path):
        said = str(self.refusal(tmp_path))
        assert said.startswith(
            "counter-animals: no class folders: expected '296 ice bear/common-"
        )
