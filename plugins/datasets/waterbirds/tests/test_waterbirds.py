"""The authors' layout becomes samples; each mistake in it is one line."""

from shutil import copytree

from media_files import MediaFile

from cuescope_sdk import HasBenchmark, PlantedCue
from cuescope_testing import LayoutContract, Mistake
from cuescope_waterbirds import Waterbirds

HEADER = "img_id,img_filename,y,split,place,place_filename"
ALBATROSS, WREN = "001.Black_footed_Albatross", "196.House_Wren"


def table(*rows: str) -> str:
    return "\n".join([HEADER, *rows, ""])


class TestWaterbirds(LayoutContract):
    plugin = Waterbirds
    other_options = {"split": "train"}
    mistakes = (
        Mistake(
            "metadata.csv", None, "no metadata.csv: expected metadata.csv or waterbird_"
        ),
        Mistake(
            "metadata.csv", HEADER.replace("place,", "plase,"), "Did you mean 'plase'?"
        ),
        Mistake(
            "metadata.csv",
            table("1,a/1.jpg,0,1,0,/f/x.jpg", "2,a/2.jpg,2,1,0,/f/x.jpg"),
            "metadata.csv line 3 'y': expected less than or equal to 1, got '2'",
        ),
        Mistake(
            "metadata.csv", table("1,a/1.jpg,0,0,0,/f/x.jpg"), "no images in split val"
        ),
        Mistake("metadata.csv", table(*["1,a/1.jpg,0,1,0,/f/x.jpg"] * 2), "it 2 times"),
    )

    @classmethod
    def written(cls, root):
        rows = []
        for number, (species, bird) in enumerate([(ALBATROSS, 1), (WREN, 0)] * 6):
            split, place = number // 4, number // 2 % 2
            photo = f"{species}/{number:04d}.jpg"
            MediaFile.image(root / photo)
            rows.append(
                f"{number},{photo},{bird},{split},{place},/o/ocean/00{number}.jpg"
            )
        (root / "metadata.csv").write_text(table(*rows))

    def test_it_says_which_benchmark_it_is(self):
        data = self.open()
        assert isinstance(data, HasBenchmark)
        assert data.benchmark == "Waterbirds"

    def test_the_background_is_the_cue_of_its_birds(self):
        data = self.open()
        assert data.planted_cues == (
            PlantedCue(
                key="land background", name="land background", labels=("landbird",)
            ),
            PlantedCue(
                key="water background", name="water background", labels=("waterbird",)
            ),
        )
        assert [cue.key for cue in data.planted_cues] == list(
            data[0].annotations["cues"]
        )

    def test_a_photo_is_a_sample(self):
        data = self.open()
        assert data.facts == {"images": "4 of 2 classes, split val"}
        albatross, wren, *_ = data
        assert (albatross.key, albatross.label) == (
            f"{ALBATROSS}/0004.jpg",
            "waterbird",
        )
        assert albatross.annotations == {
            "split": "val",
            "objects": ("waterbird",),
            "factors": {"background": "land", "species": "Black footed Albatross"},
            "subgroup": "waterbird on land",
            "cues": {"land background": (True,), "water background": (False,)},
        }
        assert (wren.label, wren.annotations["subgroup"]) == (
            "landbird",
            "landbird on land",
        )
        assert data[3].annotations["subgroup"] == "landbird on water"
        assert data.labels == wren.choices == ("landbird", "waterbird")

    def test_the_folder_above_will_do(self, tmp_path):
        copytree(self.tree, tmp_path / "waterbird_complete95_forest2water2")
        assert self.open(tmp_path).fingerprint == self.open().fingerprint
