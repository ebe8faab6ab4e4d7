"""The study of labels: what of a label is told by files, or by colours alone.

Of data that have one set of labels and no questions. Each tell is a forest that saw other groups.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int
from PIL import Image

from cuescope_blind.questions import deal_folds, joined_groups
from cuescope_blind.scores import Gain
from cuescope_blind.study import LEARNER, Result, Study, Wording, corrected
from cuescope_sdk import Audit, Sample, UserError
from cuescope_sdk.data import kind_of, open_video
from cuescope_sdk.report import count_of
from cuescope_sdk.statistics import Groups, MeanAboveZero, Permutation, change_interval

Codes = Int[np.ndarray, " sample"]
# A word becomes a column, and so does a number; what a file does not have is left out.
Facts = dict[str, float | str]
SIDE = 32  # of the thumbnail, in pixels
SHADES = 4  # of each of red, green and blue
# of EXIF: Make, Model, Software
EXIF_WORDS = {"make": 0x010F, "model": 0x0110, "software": 0x0131}
GPS = 0x8825  # the tag that points to the GPS entries (EXIF 2.32, 2019)
_NAME_PART = re.compile(r"[^\W\d_]+|\d+")

# Each tell completes "From ... alone", and sees the facts whose names begin so. A name is shown to
# no model, and often is the label, so the learner does not see it.
METADATA = (
    "bytes",
    "width",
    "height",
    "aspect",
    "type",
    "jpeg",
    "exif",
    "seconds",
    "rate",
)
COLOURS = "colours"
TELLS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    LEARNER: ("the file's metadata", METADATA),
    COLOURS: ("the colours of a thumbnail", ("colour",)),
    "file-name": ("the words of the file's name", ("name",)),
    "file-size": ("the size of the file", ("bytes",)),
    "resolution": ("the width and height in pixels", ("width", "height", "aspect")),
    "encoding": (
        "the type and quality of the file",
        ("type", "jpeg", "seconds", "rate"),
    ),
    "exif": ("the EXIF entries", ("exif",)),
}


# ------------------------------------------------------------------------------ facts of files


def facts_of(sample: Sample) -> Facts:
    """What is known of the file that a sample shows; nothing where its pixels were drawn."""
    source = sample.frames[0].source if sample.frames else None
    if source is None or not source.path.is_file():
        return {}
    path = source.path
    facts: Facts = {"bytes": float(path.stat().st_size)}
    for part in _NAME_PART.findall(path.stem.casefold()):
        # of numbers the count of digits: "0001" and "0002" are alike
        facts[f"name {part if part.isalpha() else len(part) * '0'}"] = 1.0
    return facts | (
        _image_facts(path) if kind_of(path) == "image" else _video_facts(path)
    )


def _image_facts(path: Path) -> Facts:
    with Image.open(path) as image:
        width, height = image.size
        exif = image.getexif()
        facts: Facts = {
            "type": f"{image.format} {image.mode}",
            "width": float(width),
            "height": float(height),
            "aspect": width / height,
            "exif entries": float(len(exif)),
            "exif gps": float(GPS in exif),
        }
        # a sum says the quality: encoders scale the same table
        tables = getattr(image, "quantization", None)
        if tables:
            facts["jpeg"] = float(sum(tables[0]))
        for name, code in EXIF_WORDS.items():
            if code in exif:
                facts[f"exif {name}"] = str(exif[code])
        return facts


def _video_facts(path: Path) -> Facts:
    with open_video(path) as (container, stream):
        facts: Facts = {
            "type": f"{container.format.name} {stream.codec_context.name}",
            "width": float(stream.width),
            "height": float(stream.height),
            "aspect": stream.width / stream.height,
        }
        if container.duration is not None:
            # in microseconds
            facts["seconds"] = container.duration / 1e6
        if stream.average_rate is not None:
            facts["rate"] = float(stream.average_rate)
        return facts


def colours_of(sample: Sample) -> Facts:
    """How much of the middle frame has which colour, wherever it is."""
    frame = sample.frames[len(sample.frames) // 2].load()
    thumbnail = frame.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX)
    pixels = np.asarray(thumbnail, dtype=float).reshape(-1, 3)
    shares, _ = np.histogramdd(pixels, bins=SHADES, range=[(0, 256)] * 3)
    # means too: a slight cast crosses no border between shades
    values = [*shares.ravel() / len(pixels), *pixels.mean(axis=0), *pixels.std(axis=0)]
    return {f"colour {number}": float(value) for number, value in enumerate(values)}


def seen_facts(facts: Sequence[Facts], beginnings: Sequence[str]) -> list[Facts]:
    """The facts of all samples whose names begin so; [] where these are the same of all."""
    seen = [
        {
            name: fact
            for name, fact in of_sample.items()
            if name.split()[0] in beginnings
        }
        for of_sample in facts
    ]
    return seen if any(of_sample != seen[0] for of_sample in seen) else []


# --------------------------------------------------------------------------------------- labels


@dataclass(frozen=True, eq=False)
class Labelled:
    """Samples with one of `names` each; `codes` are the numbers of their labels."""

    samples: tuple[Sample, ...]
    names: tuple[str, ...]
    codes: Codes
    groups: Groups

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> "Labelled":
        """Those that have a label; raises UserError where these are not two labels."""
        # by key: folds are the same in whatever order samples come
        ordered = sorted(samples, key=lambda sample: sample.key)
        usable = tuple(sample for sample in ordered if sample.label is not None)
        names, codes = np.unique([str(s.label) for s in usable], return_inverse=True)
        if len(names) < 2:
            raise UserError(
                "blind: there is nothing to tell apart",
                expected="samples of two labels or more",
                got=", ".join(names) or "no label",
            )
        return cls(usable, tuple(names.tolist()), codes, Groups.of(usable))

    @cached_property
    def fold_groups(self) -> Groups:
        """Groups that share no picture: folds are of these."""
        # by content: a copy has another name
        keys = [sample.frames[0].key for sample in self.samples]
        return joined_groups(self.groups, keys)


def is_labelled(samples: Sequence[Sample]) -> bool:
    """True if all samples show something, and are asked the same with the same choices."""
    asked = {(sample.question, frozenset(sample.choices)) for sample in samples}
    return len(asked) == 1 and all(sample.frames for sample in samples)


def label_statement(result: Result) -> str:
    """The finding as a sentence; the report puts the tell's name into it."""
    gain = result.gain
    return (
        f"From {{feature}} alone, the label is told right of {gain.accuracy:.1%} of "
        f"{count_of(gain.n, 'samples')}; chance level {gain.chance:.1%} ({gain.points})."
    )


def redraw_labels(audit: Audit, result: Result, draws: int) -> Iterator[float]:
    """How often labels that are dealt anew are told right by the same tell."""
    data = audit.once(labelled_samples, audit)
    facts = audit.once(facts_by_tell, audit)[result.key]
    fold = audit.once(label_folds, audit)
    # one stratum: any sample may be dealt any label
    stratum = np.zeros(len(data.codes), int)
    orders = Permutation.orders(stratum, draws, audit.rng("redraws"))
    for draw, order in enumerate(orders):
        codes = data.codes[order]
        seed = audit.derive_seed("forest", result.key, str(draw))
        said = forest_probability(facts, codes, fold, seed).argmax(axis=1)
        yield float((said == codes).mean())


WORDING = Wording(
    noun="samples",
    title="What files tell of labels (percent)",
    note=f"'{COLOURS}' sees the picture, and what it tells may belong to the label.",
    statement=label_statement,
    next_step="Look at the samples that show each tell: did one label come from another source, "
    "camera or tool? Colours may belong to the label itself. To see whether a model uses a tell, "
    "write all files anew in one size and quality, and ask it again.",
    nothing_found="These tells were not found, and more samples find smaller gains. Backgrounds "
    "and objects are for the other methods: `cuescope methods --data DATA`.",
    redrawn="labels dealt anew among the samples",
    redraw=redraw_labels,
)


def label_study(audit: Audit) -> Study:
    """All that is measured of labels; for `audit.once`."""
    data = audit.once(labelled_samples, audit)
    fold = audit.once(label_folds, audit)
    results: list[Result] = []
    scores = None
    for key, facts in audit.once(facts_by_tell, audit).items():
        seed = audit.derive_seed("forest", key)
        probability = forest_probability(facts, data.codes, fold, seed)
        if key == LEARNER:
            own = probability[np.arange(len(data.codes)), data.codes]
            scores = own - 1 / len(data.names)
        results.append(label_result(data, key, probability.argmax(axis=1)))
    return Study(
        tuple(sample.key for sample in data.samples),
        data.groups,
        f"{len(data.samples):,} of {len(data.names)} labels",
        data.groups.count - data.fold_groups.count,
        corrected(results, audit.options),
        scores,
        WORDING,
    )


def labelled_samples(audit: Audit) -> Labelled:
    """The labelled samples of an audit; for `audit.once`."""
    return Labelled.of(audit.samples)


def label_folds(audit: Audit) -> Codes:
    """The fold of each sample; for `audit.once`."""
    data = audit.once(labelled_samples, audit)
    groups = data.fold_groups
    if groups.count < 2:
        raise UserError("blind: every sample shares a group", expected="two groups")
    return deal_folds(groups, audit.options.folds, audit.rng("folds"))


def facts_by_tell(audit: Audit) -> dict[str, list[Facts]]:
    """What each tell sees; those that see nothing are left out. For `audit.once`."""
    data = audit.once(labelled_samples, audit)
    facts: list[Facts] = []
    with audit.context.progress("files read", len(data.samples)) as advance:
        for sample in data.samples:
            facts.append(facts_of(sample) | colours_of(sample))
            advance(1)
    seen = {
        key: seen_facts(facts, beginnings) for key, (_, beginnings) in TELLS.items()
    }
    return {key: of_tell for key, of_tell in seen.items() if of_tell}


def forest_probability(
    facts: Sequence[Facts],
    codes: Codes,
    fold: Codes,
    seed: int,
) -> Float[np.ndarray, "sample label"]:
    """The probability of every label, from trees that saw no sample of its fold.

    Extremely randomised trees (Geurts et al., 2006), each label with the same weight.
    """
    # late: half a second
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.feature_extraction import DictVectorizer

    # sparse: names may have as many words as there are files
    columns = DictVectorizer().fit_transform(facts)
    probability = np.zeros((len(codes), int(codes.max()) + 1))
    for number in np.unique(fold).tolist():
        training = fold != number
        forest = ExtraTreesClassifier(
            class_weight="balanced",
            # a thousand labels stand in each leaf
            max_leaf_nodes=256,
            # of scikit-learn, which takes 32 bits
            random_state=seed % 2**32,
        )
        forest.fit(columns[training], codes[training])
        # a label that no other fold has is not learned
        learned = np.ix_(~training, forest.classes_)
        probability[learned] = forest.predict_proba(columns[~training])
    return probability


def label_result(data: Labelled, key: str, said: Codes) -> Result:
    """The gain on all labels, over how often what is said would be right by chance."""
    name, _ = TELLS[key]
    labels = np.arange(len(data.names))
    is_label = data.codes[:, None] == labels
    is_said = said[:, None] == labels
    shares = is_label.mean(axis=0)
    said_shares = is_said.mean(axis=0)
    # where what is said has nothing to do with the label, each has the mean 0
    excess = ((is_label - shares) * (is_said - said_shares)).sum(axis=1)
    right = (said == data.codes).astype(float)
    accuracy = float(right.mean())
    chance = float(shares @ said_shares)
    bounded = np.clip(excess, -1, 1)
    low, high = change_interval(bounded, data.groups)
    p_value = MeanAboveZero(bounded, data.groups).p_value()
    gain = Gain(len(said), accuracy, chance, accuracy - chance, low, high, p_value)
    return Result(key, name, None, np.ones(len(said), dtype=bool), right, gain)
