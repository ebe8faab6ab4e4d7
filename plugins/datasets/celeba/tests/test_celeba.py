"""The authors' layout becomes samples; each mistake in it is one line."""

from media_files import MediaFile

from cuescope_celeba import CelebA, words
from cuescope_sdk import HasBenchmark, PlantedCue
from cuescope_testing import LayoutContract, Mistake

NAMES = "Bald Blond_Hair Male Smiling"
FLAGS = ["-1  1 -1  1", "-1 -1  1 -1", " 1 -1  1  1", "-1  1  1 -1"]
ATTRIBUTES, PARTITION = "list_attr_celeba.txt", "list_eval_partition.txt"
PERSONS = "identity_CelebA.txt"


class TestCelebA(LayoutContract):
    plugin = CelebA
    other_options = {"spurious": "Smiling"}
    mistakes = (
        Mistake(ATTRIBUTES, None, "no list_attr_celeba.txt"),
        Mistake(
            ATTRIBUTES,
            "faces\n",
            "txt line 1: expected the number of faces, got 'faces'",
        ),
        Mistake(
            ATTRIBUTES,
            f"2\n{NAMES}\n000001.jpg 1 -1 1\n",
            "txt line 3: expected a file and 4 times 1 or -1, got '000001.jpg 1 -1 1'",
        ),
        Mistake(
            ATTRIBUTES, f"1\n{NAMES}\n000001.jpg -1 1 -1 1\n", "txt has no '000005.jpg'"
        ),
        Mistake(
            PERSONS,
            "000005.jpg\n",
            "txt line 1: expected '000001.jpg 2880', got '000005",
        ),
        Mistake(PERSONS, "000005.jpg 7\n", "identity_CelebA.txt has no '000006.jpg'"),
        Mistake(PARTITION, None, "no list_eval_partition.txt"),
        Mistake(
            PARTITION,
            "000001.jpg 0\n000002.jpg 3\n",
            "txt line 2: expected '000001.jpg 0'",
        ),
        Mistake(
            "",
            None,
            "no attribute 'Blonde_Hair': expected one of Bald, Blond",
            {"target": "Blonde_Hair"},
        ),
        Mistake(
            "", None, "expected two attributes, got 'Male' twice", {"target": "Male"}
        ),
    )

    @classmethod
    def written(cls, root):
        faces = [f"{number:06d}.jpg" for number in range(1, 13)]
        for face in faces:
            MediaFile.image(root / "img_align_celeba" / face)
        rows = [f"{face} {FLAGS[number % 4]}" for number, face in enumerate(faces)]
        (root / ATTRIBUTES).write_text("\n".join(["12", NAMES, *rows, ""]))
        parts = [f"{face} {number // 4}\n" for number, face in enumerate(faces)]
        (root / PARTITION).write_text("".join(parts))

    def test_it_says_which_benchmark_it_is(self):
        data = self.open()
        assert isinstance(data, HasBenchmark)
        assert data.benchmark == "CelebA"

    def test_the_suspected_attribute_is_the_cue(self):
        assert self.open().planted_cues == (PlantedCue(key="male", name="male"),)
        cues = self.open(target="Smiling", spurious="Bald").planted_cues
        assert [cue.key for cue in cues] == ["bald"]
        assert list(self.open(spurious="Bald")[0].annotations["cues"]) == ["bald"]

    def test_a_face_is_a_sample(self):
        data = self.open()
        assert data.labels == ("not blond hair", "blond hair")
        assert [sample.key for sample in data] == [f"{n:06d}.jpg" for n in range(5, 9)]
        assert data[0].label == "blond hair"
        assert data[0].annotations == {
            "split": "val",
            "objects": ("blond hair",),
            "attributes": ("blond hair", "smiling"),
            "factors": {"blond hair": "blond hair", "male": "not male"},
            "subgroup": "blond hair, not male",
            "cues": {"male": (False,)},
        }
        assert [sample.annotations["cues"]["male"] for sample in data][1:] == [
            (True,)
        ] * 3
        assert data[3].annotations["subgroup"] == "blond hair, male"

    def test_faces_of_a_person_are_a_group(self):
        data = self.open()
        assert {sample.group for sample in data} == {None}
        assert data.facts["persons"] == "not known: there is no identity_CelebA.txt"
        with self.copy() as root:
            faces = [f"{n:06d}.jpg {n // 6}\n" for n in range(1, 13)]
            (root / PERSONS).write_text("".join(faces))
            known = self.open(root)
        assert [sample.group for sample in known] == ["0", "1", "1", "1"]
        assert known.facts["groups"] == (
            "2 of 4 samples, by person; the largest has 3; 1 of several labels (1)"
        )

    def test_any_two_attributes_are_target_and_cue(self):
        data = self.open(target="Smiling", spurious="Bald")
        assert data.labels == ("not smiling", "smiling")
        assert [sample.label for sample in data] == [
            words("Smiling", n in (0, 2)) for n in range(4)
        ]
        assert [sample.annotations["cues"]["bald"] for sample in data].index(
            (True,)
        ) == 2

    def test_the_folders_of_the_download_are_found(self):
        before = self.open().fingerprint
        with self.copy() as root:
            for folder, name in (
                ("Anno", ATTRIBUTES),
                ("Eval", PARTITION),
                ("Img", "img_align_celeba"),
            ):
                (root / folder).mkdir()
                (root / name).rename(root / folder / name)
            assert self.open(root).fingerprint == before
