"""Which column of a Hugging Face data set is what: as it is named, or guessed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from cuescope_folder.tables import COLUMNS, FILES
from cuescope_sdk import UserError, nearest

IMAGES = ("image", "img", "photo", "picture", "video")
LABELS = ("label", "labels", "answer", "class", "category", "target", "fine_label")
QUESTIONS = ("question", "query", "prompt")
CHOICES = ("choices", "options")
MASKS = ("mask", "segmentation_mask")
# what a manifest understands in its own way
RESERVED = {*COLUMNS, *FILES, "boxes"}
# a hub's column of this name is read as a manifest's is
RESERVED.remove("group")


@dataclass(frozen=True)
class Columns:
    """Names of columns, "" for what there is not; `names` are those of the classes."""

    image: str
    label: str
    question: str = ""
    choices: str = ""
    mask: str = ""
    others: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    guessed: tuple[str, ...] = ()

    @property
    def files(self) -> list[str]:
        """Those that hold files."""
        return list(filter(None, (self.image, self.mask)))

    @property
    def words(self) -> str:
        """ "image 'img' (guessed; -O data.image=COLUMN takes another), label 'fine_label'"."""
        words = []
        for role in ("image", "label", "question", "choices"):
            name = getattr(self, role)
            guess = (
                f" (guessed; -O data.{role}=COLUMN takes another)"
                if role in self.guessed
                else ""
            )
            if name:
                words.append(f"{role} '{name}'{guess}")
        return ", ".join(words)

    def cells(self, row: Mapping[str, Any], location: str) -> dict[str, Any]:
        """The cells of a row as a manifest has them; raises UserError for a label that is none."""
        # a null is a missing cell, as in a manifest
        cells = {name: row[name] for name in self.others if row[name] is not None}
        choices = row[self.choices] if self.choices else None
        if choices is not None:
            cells["choices"] = list(map(str, choices))
        if self.question and row[self.question] is not None:
            cells["question"] = row[self.question]
        cells["label"] = self._label(row[self.label], choices, location)
        return cells

    def _label(self, value: Any, choices: Sequence[Any] | None, location: str) -> str:
        # a number is a class of the column, or a place among the row's choices
        names = self.names or choices or ()
        # before int: True is 1, and would be read as a class
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, int) and names:
            if not 0 <= value < len(names):
                raise UserError(
                    f"hf: {location}: {self.label} {value} is no class",
                    expected=f"0 to {len(names) - 1}",
                    remedy="A split whose labels are secret has -1: take another one",
                )
            return str(names[value])
        if isinstance(value, str | int | float) and str(value).strip():
            return str(value)
        raise UserError(
            f"hf: {location}: column '{self.label}'",
            expected="a label",
            got="nothing" if value is None else repr(value)[:60],
            remedy="-O data.label=COLUMN takes another column",
        )


def choose_columns(
    source: Any,
    repository: str,
    features: Mapping[str, Any],
    given: Mapping[str, str | None],
) -> Columns:
    """The columns: for a role those that are `given`, else guessed by type and name.

    Raises UserError where images or labels are in none, or in one of several.
    """

    def of_kind(*kinds: type) -> list[str]:
        return [name for name, kind in features.items() if isinstance(kind, kinds)]

    chooser = _Chooser(repository, features, given)
    media = of_kind(source.Image, source.Video)
    # a mask is an image too, and would make two columns to choose from
    masks = [
        name for name in media if name.lower() in MASKS and name != given.get("image")
    ]
    pictures = [name for name in media if name not in masks]
    image = chooser.pick("image", pictures, IMAGES, needed=True)
    if image not in media:
        raise _no_media(repository, image, features, media)
    named = [name for name in features if name.lower() in LABELS and name not in media]
    classes = of_kind(source.ClassLabel)
    label = chooser.pick("label", classes or named, LABELS, needed=True)
    texts = [
        name
        for name, kind in features.items()
        if getattr(kind, "dtype", "") == "string"
    ]
    question = chooser.pick("question", texts, QUESTIONS)
    choices = chooser.pick("choices", of_kind(list, source.List), CHOICES)
    used = {image, label, question, choices, *media}
    free = [name for name in of_kind(source.Value) if name not in used]
    # a manifest would read such a name as something else
    others = [name for name in free if name.lower() not in RESERVED]
    kind = features[label]
    return Columns(
        image,
        label,
        question,
        choices,
        mask=masks[0] if masks else "",
        others=tuple(others),
        names=tuple(kind.names) if isinstance(kind, source.ClassLabel) else (),
        guessed=tuple(chooser.guessed),
    )


@dataclass
class _Chooser:
    """Chooses the columns of a repository, role by role."""

    repository: str
    features: Mapping[str, Any]
    given: Mapping[str, str | None]
    guessed: list[str] = field(default_factory=list)  # roles, as far as chosen

    def pick(
        self,
        role: str,
        candidates: Sequence[str],
        usual: Sequence[str],
        *,
        needed: bool = False,
    ) -> str:
        """The given column, else the candidate with a usual name; "" where there is none.

        A role that is needed takes the only candidate, and raises UserError without it.
        """
        name = self.given.get(role)
        if name is not None:
            self._require_column(name)
            return name
        # in the order of the usual names: `label` goes before `fine_label`
        likely = [
            name
            for word, name in product(usual, self.features)
            if name.lower() == word and name in candidates
        ]
        if needed and not likely:
            likely = [self._only(role, candidates)]
        # an option takes another column for these roles only
        if likely and role in self.given:
            self.guessed.append(role)
        return likely[0] if likely else ""

    def _require_column(self, name: str) -> None:
        if name not in self.features:
            raise UserError(
                f"hf: {self.repository} has no column '{name}'",
                expected=f"one of {', '.join(self.features)}",
                remedy=nearest(name, list(self.features)),
            )

    def _only(self, role: str, candidates: Sequence[str]) -> str:
        if len(candidates) != 1:
            raise UserError(
                f"hf: {self.repository}: which column is the {role}?",
                expected=f"-O data.{role}=COLUMN",
                got=f"columns {', '.join(self.features)}",
            )
        return candidates[0]


def _no_media(
    repository: str, name: str, features: Mapping[str, Any], media: Sequence[str]
) -> UserError:
    expected = f"one of {', '.join(media)}" if media else ""
    return UserError(
        f"hf: column '{name}' of {repository} holds no images or videos",
        expected=expected or "a column of type Image or Video",
        got=str(features[name])[:60],
    )
