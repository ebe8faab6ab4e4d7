"""CCI where a thing of another label is on screen too: a verdict of its own, and no background cue.

    python benchmarks/nulls/rows.py --method cci --only thing --audits 100

Images of 8 x 8 patches: an object, a background of a place, and in some a small thing of another
label. The model adds what it sees: hiding patches takes their part away. Everything else is CCI's
own. The rule is passed where there is a pull.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from cuescope_cci.analysis import (
    is_finding,
    is_overall_finding,
    is_overall_pull,
    is_pull,
)
from cuescope_cci.backgrounds.measure import measure_backgrounds
from cuescope_cci.error_source import AnswerSource, with_kinds
from cuescope_cci.error_source.regions import Apart, hidden_region
from cuescope_cci.options import CCIOptions
from cuescope_cci.scores import background_clusters
from cuescope_cci.trials import AnsweredImage
from cuescope_sdk import Audit, Context, Detection, Frame, Sample

SIDE = 8  # patches
CLASSES = 8
NAMES = tuple(f"class {number}" for number in range(CLASSES))
SIGNAL, THING = 3.0, 5.0  # logits of an object and of a thing
Told = Literal["nothing", "objects", "boxes", "a detector that misses 3 of 10"]


@dataclass(frozen=True)
class Setting:
    """What is simulated. Things are of any class, or of the place's."""

    name: str
    things: float = 0.25
    of_place: bool = False
    kinds: Literal["places", "clusters"] = "places"
    told: Told = "nothing"
    pull: float = 0.0  # of a place to its class, in logits
    # of the patches: 1 is all of the background, less a mark as large as a thing
    everywhere: bool = True
    # a part of the background stands in for the others, or each part adds its own
    stands_in: bool = True
    images: int = 200


def detection(name: str) -> Detection:
    return Detection(name=name, score=0.8, box=(0.0, 0.0, 1.0, 1.0))


class Detector:
    """Finds what is on screen in 7 of 10 cases."""

    def __init__(self, shown: dict[str, str], rng: np.random.Generator) -> None:
        self.shown = {key: name for key, name in shown.items() if rng.random() < 0.7}

    def detect(
        self, frames: Sequence[Frame], names: Sequence[str]
    ) -> list[tuple[Detection, ...]]:
        found = []
        for frame in frames:
            name = self.shown.get(frame.key)
            boxes = (detection(name),) if name in names else ()
            found.append(boxes)
        return found


@dataclass(frozen=True)
class Picture:
    """Which patches show what, and the logits that each kind of thing gives."""

    objects: np.ndarray
    thing: np.ndarray
    object_logits: np.ndarray
    thing_logits: np.ndarray
    ground_logits: np.ndarray
    common_logits: np.ndarray
    stands_in: bool

    def logits(self, hidden: np.ndarray) -> np.ndarray:
        """What the model says without some of the patches."""
        ground = ~self.objects & ~self.thing
        visible = (ground & ~hidden).sum() / ground.sum()
        share = float(visible > 0) if self.stands_in else visible
        return (
            self.common_logits
            + self.object_logits * _share(self.objects, hidden)
            + self.thing_logits * _share(self.thing, hidden)
            + self.ground_logits * share
        )


def _share(part: np.ndarray, hidden: np.ndarray) -> float:
    return float((part & ~hidden).sum() / max(part.sum(), 1))


def draw_block(rng: np.random.Generator, sides: tuple[int, int]) -> np.ndarray:
    """A rectangle of patches somewhere."""
    block = np.zeros((SIDE, SIDE), dtype=bool)
    top, left = (int(rng.integers(SIDE - side + 1)) for side in sides)
    block[top : top + sides[0], left : left + sides[1]] = True
    return block


def draw_clusters(
    objects: np.ndarray, thing: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """As k-means finds them: of the object, of the thing, five of the rest, with errors."""
    rows, cols = np.mgrid[:SIDE, :SIDE]
    seeds = rng.uniform(0, SIDE, (5, 2, 1, 1))
    far = (rows - seeds[:, 0]) ** 2 + (cols - seeds[:, 1]) ** 2
    cluster = np.where(objects, 5, np.where(thing, 6, far.argmin(axis=0)))
    wrong = rng.random(cluster.shape) < 0.05
    cluster = np.where(
        wrong, rng.permutation(cluster.ravel()).reshape(cluster.shape), cluster
    )
    return np.unique(cluster, return_inverse=True)[1].reshape(cluster.shape)


def draw_image(setting: Setting, index: int, rng: np.random.Generator) -> AnswerSource:
    """An image as the audit has it."""
    label, place = index % CLASSES, int(rng.integers(CLASSES))
    shown = rng.random() < setting.things
    thing_class = place if setting.of_place else int(rng.integers(CLASSES))
    objects = draw_block(rng, (int(rng.integers(2, 5)), int(rng.integers(2, 5))))
    block = draw_block(rng, (2, 3)) & ~objects
    has_mark = setting.pull > 0 and not setting.everywhere
    thing = block if shown or has_mark else np.zeros_like(block)
    shown &= bool(block.any())
    unit = np.eye(CLASSES)
    ground = rng.normal(scale=0.5, size=CLASSES)
    of_thing = THING * unit[thing_class] * shown
    if setting.everywhere:
        ground = ground + setting.pull * unit[place]
    else:
        of_thing = of_thing + setting.pull * unit[place]
    picture = Picture(
        objects=objects,
        thing=thing,
        object_logits=rng.normal(scale=0.7, size=CLASSES) + SIGNAL * unit[label],
        thing_logits=of_thing,
        ground_logits=ground,
        common_logits=np.zeros(CLASSES),
        stands_in=setting.stands_in,
    )
    cluster = draw_clusters(objects, thing, rng)
    nothing = np.zeros_like(objects)
    logits = picture.logits(nothing)
    without = [picture.logits(cluster == number) for number in range(cluster.max() + 1)]
    annotations = {}
    names = (NAMES[label], *([NAMES[thing_class]] if shown else []))
    if setting.told == "objects":
        annotations["objects"] = names
    if setting.told == "boxes":
        annotations["boxes"] = tuple(map(detection, names))
    if setting.told == "a detector that misses 3 of 10":
        annotations["answer sheet"] = NAMES[thing_class] if shown else ""
    pixels = rng.integers(0, 256, (2, 2, 3), dtype=np.uint8)
    sample = Sample(
        key=f"{index:05d}/canvas",
        frames=(Frame.from_array(pixels),),
        choices=NAMES,
        label=NAMES[label],
        annotations=annotations,
    )
    background = background_clusters(cluster, objects)[cluster]
    embedding = np.concatenate(
        [3 * unit[thing_class] * shown, rng.normal(scale=0.5, size=4)]
    )
    apart = Apart(picture.logits(~background), picture.logits(background), embedding)
    image = AnsweredImage(sample, cluster, logits, logits - np.array(without))
    return AnswerSource(
        **vars(image),
        importance=np.ones((1, 1)),
        foreground=objects,
        region=hidden_region(image, image.prediction, apart),
        alike=None,
        factors={"place": str(place)} if setting.kinds == "places" else {},
        apart=apart,
    )


def audit_once(setting: Setting, seed: int) -> tuple[bool, bool]:
    """Whether an audit has a pull, and whether one keeps its star."""
    rng = np.random.default_rng([seed, setting.images])
    sources = [draw_image(setting, index, rng) for index in range(setting.images)]
    tools = {}
    if setting.told == "a detector that misses 3 of 10":
        shown = {
            source.sample.frames[0].key: source.sample.annotations["answer sheet"]
            for source in sources
        }
        tools["detector"] = Detector(shown, rng)
    options = CCIOptions()
    audit = Audit(
        labels=(),
        options=options,
        respond=lambda _: [],
        context=Context(seed=seed),
        tools=tools,
    )
    known = measure_backgrounds(audit, options, with_kinds(audit, options, sources))
    if known is None:
        return False, False
    pull = is_overall_pull(known, options) or any(
        is_pull(row, known, options) for row in known.rows
    )
    starred = is_overall_finding(known, options) or any(
        is_finding(row, known, options) for row in known.rows
    )
    return pull, starred


DETECTOR: Told = "a detector that misses 3 of 10"
NULLS = (
    Setting("no thing, places mean nothing", things=0.0),
    Setting("things of any class"),
    Setting("things of the place's class", of_place=True),
    Setting("of the place's class, named by 'objects'", of_place=True, told="objects"),
    Setting("of the place's class, named by 'boxes'", of_place=True, told="boxes"),
    Setting("of the place's class, found by a detector", of_place=True, told=DETECTOR),
    Setting("of the place's class, patches add up", of_place=True, stands_in=False),
    Setting("kinds are clusters", kinds="clusters"),
    Setting("kinds are clusters, named by 'objects'", kinds="clusters", told="objects"),
    Setting("kinds are clusters, found by a detector", kinds="clusters", told=DETECTOR),
)
PLANTED = (
    Setting("planted, no thing", things=0.0, pull=3.0),
    Setting("planted, patches add up", things=0.0, pull=3.0, stands_in=False),
    Setting("planted, 48 images", things=0.0, pull=3.0, images=48),
    Setting("planted, things of any class", pull=3.0),
    Setting("planted, things named", pull=3.0, told="objects"),
    Setting("planted, a detector", pull=3.0, told=DETECTOR),
    Setting("planted mark, nothing named", things=0.0, pull=5.0, everywhere=False),
    Setting("planted mark, things named", pull=5.0, everywhere=False, told="objects"),
)
