"""CelebA (Liu et al., 2015): faces with forty attributes, of which one is asked for.

The authors' `list_attr_celeba.txt` and `list_eval_partition.txt`, and `img_align_celeba`; where
`identity_CelebA.txt` is there too, it says whose face each is.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from cuescope_celeba.layout import read_attributes, read_partition, read_persons
from cuescope_sdk import PlantedCue, UserError, Words
from cuescope_sdk.data import ImageFolder, ImageFolderOptions, ImageItem, TextFile
from cuescope_sdk.models import refuse_unknown


class CelebAOptions(ImageFolderOptions):
    """Those of every image folder, and which attributes tell label and cue."""

    target: Annotated[str, Words()] = Field(
        "Blond_Hair", description="the attribute that is the label"
    )
    spurious: Annotated[str, Words()] = Field(
        "Male", description="the attribute that is the suspected cue"
    )


class CelebA(ImageFolder):
    """A sample a face, labelled "blond hair" or "not blond hair"; "male" is the annotated cue.

    That is what the audits of group robustness ask for; any two of the attributes will do. The
    group is the person, where the file of identities is there.
    """

    Options = CelebAOptions
    options: CelebAOptions
    title: ClassVar[str] = "celeba"
    benchmark: str | None = "CelebA"
    group_source: ClassVar[str] = "person"
    split_names: ClassVar[tuple[str, ...]] = ("train", "val", "test")

    @property
    def planted_cues(self) -> tuple[PlantedCue, ...]:
        """The suspected attribute; which label it goes with depends on the two attributes."""
        cue = words(self.options.spurious)
        return (PlantedCue(key=cue, name=cue),)

    def read(self, split: str) -> Iterator[ImageItem]:
        """The faces of a split; raises UserError where a face has no attributes."""
        target = self.options.target
        spurious = self.options.spurious
        table = self.file("list_attr_celeba.txt", "Anno/list_attr_celeba.txt")
        names, attributes = read_attributes(table)
        for name in (target, spurious):  # a typo would label every face 'not ...'
            refuse_unknown(self.title, "attribute", name, names)
        if target == spurious:
            raise UserError(
                "celeba: target and spurious",
                expected="two attributes",
                got=f"'{target}' twice",
            )
        self.labels = (words(target, False), words(target))
        partition = read_partition(
            self.file("list_eval_partition.txt", "Eval/list_eval_partition.txt")
        )
        # Kaggle's copy has the folder within a folder of the same name.
        folder = self.place(
            "img_align_celeba/img_align_celeba",
            "img_align_celeba",
            "Img/img_align_celeba",
        )
        # The partition decides which faces there are, and in which order.
        files = [
            file
            for file, number in partition.items()
            if self.split_names[number] == split
        ]
        self._require_faces(table, attributes, files)
        persons = self._persons(files)
        for file in files:
            present = attributes[file]
            label = words(target, target in present)
            cue = words(spurious, spurious in present)
            annotations = {
                "attributes": tuple(words(name) for name in names if name in present),
                "factors": {words(target): label, words(spurious): cue},
                "subgroup": f"{label}, {cue}",
                "cues": {words(spurious): (spurious in present,)},
            }
            yield ImageItem(
                file,
                folder / file,
                (label,),
                label,
                annotations,
                group=persons.get(file),
            )

    def _persons(self, files: Sequence[str]) -> Mapping[str, str]:
        """The person of each face; none where there is no file of them."""
        table = self.find("identity_CelebA.txt", "Anno/identity_CelebA.txt")
        if table is None:
            self.facts["persons"] = "not known: there is no identity_CelebA.txt"
            return {}
        persons = read_persons(table)
        self._require_faces(table, persons, files)
        return persons

    def _require_faces(
        self,
        table: TextFile,
        faces: Container[str],
        files: Sequence[str],
    ) -> None:
        for file in files:
            if file not in faces:
                raise UserError(
                    f"{table.name} has no '{file}'",
                    expected="every face of list_eval_partition.txt",
                )


def words(attribute: str, present: bool = True) -> str:
    """ "Blond_Hair" as "blond hair", or "not blond hair"."""
    return f"{'' if present else 'not '}{attribute.replace('_', ' ').lower()}"
