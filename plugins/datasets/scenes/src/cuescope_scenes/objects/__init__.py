"""Object scenes: many named objects in an image, and things beside them that give some away.

The planted truth for audits of what makes a model see an object, or imagine it: boxes and masks of
all that is there, and which thing is the cue of which class.
"""

from functools import lru_cache
from itertools import compress
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import AfterValidator, Field

from cuescope_scenes.cues import shown_cues
from cuescope_scenes.objects.composition import (
    THING_RATE,
    compose,
    draw_objects,
    draw_questions,
    draw_things,
)
from cuescope_scenes.objects.pictures import (
    DRAWING_VERSION,
    Picture,
    detection,
    frame,
    mask,
)
from cuescope_scenes.objects.words import (
    CLASSES,
    PLANTED,
    SUPERCATEGORY_OF,
    THINGS,
    WORDINGS,
)
from cuescope_scenes.words import join_nouns, with_article
from cuescope_sdk import (
    Context,
    DrawnOptions,
    PlantedCue,
    Plugin,
    Sample,
    UserError,
    Words,
    derive,
    digest,
    generator,
)
from cuescope_sdk.models import refuse_unknown
from cuescope_sdk.report import count_of

ANSWERS = ("yes", "no")
NOISE = 6.0  # standard deviation of the grain, grey levels
# how often a cue is shown in training, with its class and without
STRENGTH = 0.9
ELSEWHERE = 0.1


def _check_planted(planted: dict[str, str]) -> dict[str, str]:
    """Classes with a thing each, no thing for two."""
    for kind, names, valid in (
        ("class", list(planted), CLASSES),
        ("thing", list(planted.values()), THINGS),
    ):
        for name in names:
            refuse_unknown("object-scenes: planted", kind, name, valid)
        # of a thing for two classes `draw_things` would keep the rate of the second alone
        if len(set(names)) < len(names):
            raise UserError(f"object-scenes: planted has a {kind} twice")
    return planted


class ObjectScenesOptions(DrawnOptions):
    """What to generate; the part after `object-scenes:` is `questions`."""

    argument = "questions"

    planted: Annotated[dict[str, str], AfterValidator(_check_planted), Words()] = Field(
        PLANTED, description="{class: thing that gives it away}; {} plants nothing"
    )
    faint: float = Field(
        0.4,
        ge=0,
        le=1,
        description="share of the objects with a cue that are small and faint",
    )
    questions: Literal["none", "presence"] = Field(
        "none", description="presence: yes/no questions about each image, to train on"
    )
    train: int = Field(2000, ge=1, description="images for training")
    val: int = Field(600, ge=1, description="images for validation and audit")
    test: int = Field(600, ge=1, description="images held out")

    @property
    def rates(self) -> tuple[float, float]:
        """How often a cue is there with its class, and without, in the chosen split."""
        if self.split == "train":
            return STRENGTH, ELSEWHERE
        # as often as any other thing, with the class or without: it tells nothing
        return THING_RATE, THING_RATE


class ObjectScenes(Plugin):
    """Images of two to six of twelve classes, and of things that are none.

    `objects` and `things` say what is in each image, (image, class) and (image, thing). A sample
    is an image without label or choices, as in coco; with `questions` it is one of the questions
    about an image, and its annotation "question_type" is the class that it asks for. The group is
    the image, of which each is drawn by itself.
    """

    Options = ObjectScenesOptions
    options: ObjectScenesOptions

    def __init__(self, options: ObjectScenesOptions, context: Context) -> None:
        super().__init__(options, context)
        self.labels = CLASSES if options.questions == "none" else ANSWERS
        # a generator each, so that other cues leave the objects as they are
        self.objects = draw_objects(options.size, self._rng("objects"))
        self.things = draw_things(
            self.objects, options.planted, *options.rates, self._rng("things")
        )
        # an image a row; of a question also its class and its wording
        self._rows = np.arange(options.size)[:, None]
        if options.questions != "none":
            self._rows = draw_questions(self.objects, self._rng("questions"))
        cues = []
        for name, cue in options.planted.items():
            key = f"{cue} for {name}"
            cues.append(PlantedCue(key=key, name=cue, labels=(name,)))
        self.planted_cues = tuple(cues)
        self.fingerprint = digest(
            "object-scenes",
            DRAWING_VERSION,
            options.split,
            options.seed,
            NOISE,
            options.faint,
            options.planted,
            options.questions,
            self.objects,
            self.things,
        )

    @property
    def facts(self) -> dict[str, str]:
        """What a report says of this data, but not which cues are planted: that is to be found."""
        options = self.options
        return {
            "images": f"{options.size}, split {options.split}",
            "planted": f"{count_of(len(options.planted), 'cues')}: in training, "
            f"{STRENGTH:.0%} of the "
            f"images of its class show a cue, and {ELSEWHERE:.0%} of the others; "
            f"in this split {options.rates[0]:.0%} and {options.rates[1]:.0%}",
        }

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> Sample:
        image, *question = self._rows[index].tolist()
        sample = self._image(image)
        if not question:
            return sample
        number, wording = question
        name = CLASSES[number]
        return Sample(
            key=f"{sample.key}-{name}",
            frames=sample.frames,
            question=WORDINGS[wording].format(with_article(name)),
            choices=ANSWERS,
            label="yes" if self.objects[image, number] else "no",
            group=sample.group,
            annotations={**sample.annotations, "question_type": name},
        )

    def group_of(self, index: int) -> str:
        """The image that a sample is about; nothing is composed for it."""
        return self._key(self._rows[index, 0])

    def split(self, name: str) -> Self:
        """The same options on "train", "val" or "test"; no image is in two of them."""
        return self.with_options(split=name)

    def _rng(self, part: str) -> np.random.Generator:
        return generator(self.options.seed, "object-scenes", part, self.options.split)

    def _key(self, image: int) -> str:
        return f"{self.options.split}-{image:05d}"

    def _image(self, index: int) -> Sample:
        options = self.options
        objects = tuple(compress(CLASSES, self.objects[index]))
        things = tuple(compress(THINGS, self.things[index]))
        seed = derive(options.seed, "object-scenes", options.split, str(index))
        # hard to see, so that a model does well to go by their cue
        hard = frozenset(options.planted)
        picture = compose(objects, things, hard, options.faint, NOISE, seed)
        key = self._key(index)
        return Sample(
            key=key,
            frames=(frame(picture),),
            group=key,
            annotations={
                "split": options.split,
                "objects": objects,
                "things": things,
                "supercategories": tuple(map(SUPERCATEGORY_OF.get, objects)),
                **_outlines(picture),
                "captions": (caption(objects, things),),
                "cues": shown_cues(self.planted_cues, things),
            },
        )


def caption(objects: tuple[str, ...], things: tuple[str, ...]) -> str:
    """`A cup and a boat with a table and a tree.`"""
    nouns = join_nouns(objects)
    words = f"{nouns} with {join_nouns(things)}" if things else nouns
    return f"{words[0].upper()}{words[1:]}."


# the questions about an image follow each other
@lru_cache(maxsize=64)
def _outlines(picture: Picture) -> dict[str, Any]:
    """Boxes and masks of everything, and which objects are hard to see."""
    return {
        "boxes": tuple(map(detection, picture.things)),
        "masks": {item.name: mask(item) for item in picture.things},
        "faint": tuple(item.name for item in picture.things if item.opacity < 1),
    }
