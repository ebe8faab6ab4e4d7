"""The ways in which a person gives a cue: each makes one of the samples of an audit."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from cuescope_sdk import Audit, Frame, Report, Sample, UserError, nearest
from cuescope_sdk.cues import (
    MOST_EXAMPLES,
    Box,
    Candidate,
    Cue,
    Embedded,
    LinearRecogniser,
    Origin,
    Recognition,
    Shown,
    choose_candidate,
    cue_of,
    drawing_answers,
    embed,
    found_features,
    learn,
    make_cue,
    refine_cue,
    text_directions,
)
from cuescope_sdk.report import count_of
from cuescope_sdk.statistics import Groups

LISTED = 0.5  # probability from which on a sample is of a candidate
NO = frozenset({"", "0", "false", "no", "none", "absent", "without"})


class Clicks(NamedTuple):
    """Samples that a person has marked, by key."""

    shown: Sequence[str]
    others: Sequence[str]


@dataclass(frozen=True, eq=False)
class Making:
    """The samples that a cue is made of, as an audit has embedded them."""

    audit: Audit
    data: Embedded
    # None: as the way says
    name: str | None = None
    answer: str | None = None

    def of_found(self, report: Report, wanted: str, run: Path) -> Cue:
        """A finding of a run, by its number or name: the samples that are listed of it."""
        key = _finding(report, wanted)
        [feature] = [each for each in report.features if each.key == key]
        listed = self.data.listed([seen.sample for seen in feature.occurrences])
        name = report.names[key]
        if not listed.any() or listed.all():
            raise UserError(
                f"{run}: the samples that show '{name}'",
                expected="some of the samples, not none or all",
                got=f"{listed.sum()} of {len(listed)}",
            )
        shown = Shown(listed.astype(int), np.zeros(len(listed), dtype=bool))
        return self._of(shown, name, f"found in {run.name}")

    def of_clicks(
        self, clicks: Clicks, report: Report | None = None
    ) -> tuple[Cue, str]:
        """The cue that samples speak of, and a line that says how it was chosen.

        They choose among what a run found, or without one among what draws each common wrong
        answer; where they speak of none of these, they begin a cue of their own.
        """
        shows = self._told(clicks)
        if report is not None:
            candidates = list(found_features(self.audit, self.data, report))
        else:
            candidates = list(drawing_answers(self.audit, self.data))
        chosen, posterior = choose_candidate(candidates, shows)
        told = shows >= 0
        with_it = count_of(len(clicks.shown), "samples")
        way = f"{with_it} with it and {len(clicks.others)} without it"
        if chosen is None:
            words = f"none of {len(candidates)} candidates fits: begun from the samples alone"
            return self._of(Shown(shows, told), "cue", way), words
        listed = (chosen.probability > LISTED).astype(int)
        name = chosen.name if report is not None else "cue"
        among = count_of(len(candidates), "candidates")
        words = f"the samples choose {chosen.name} among {among} "
        words += f"(posterior probability {posterior:.2f})"
        shown = Shown(np.where(told, shows, listed), told)
        return self._of(
            shown, name, f"{way}, which choose {chosen.name}", chosen
        ), words

    def of_list(self, keys: Sequence[str], file: Path) -> Cue:
        """The samples that a file lists; all others are without the cue."""
        self._require(keys)
        shown = Shown.told_of(self.data.listed(keys).astype(int))
        return self._of(shown, file.stem, f"listed in {file.name}")

    def of_column(self, column: str, samples: Iterable[Sample]) -> Cue:
        """An annotation of the data: NAME where it says yes, NAME=VALUE where it says that."""
        name, _, wanted = column.partition("=")
        by_key = {sample.key: sample.annotations for sample in samples}
        values = [_value(by_key[key], name) for key in self.data.number]
        if all(value is None for value in values):
            names = sorted(set(chain.from_iterable(map(_names, by_key.values()))))
            raise UserError(
                f"--column {name}: the data have no such annotation",
                expected=f"one of {', '.join(names[:8])}"
                if names
                else "annotated data",
                remedy=nearest(name, names),
            )
        shows = [-1 if value is None else int(_says(value, wanted)) for value in values]
        return self._of(
            Shown.told_of(np.array(shows)), wanted or name, f"column {column}"
        )

    def of_phrase(self, phrase: str) -> Cue:
        """What lies along the words in the space of a text tower."""
        data = self.data
        [direction] = text_directions(
            self.audit, data.samples[0], [phrase], data.labels
        )
        score = data.points @ direction
        sizes = np.maximum(np.bincount(data.label, minlength=len(data.labels)), 1)
        mean = np.bincount(data.label, score, len(data.labels)) / sizes
        order = np.argsort(mean[data.label] - score, kind="stable")
        count = min(MOST_EXAMPLES, len(order) // 2)
        kept = np.concatenate([order[:count], order[len(order) - count :]])
        shown = Shown(
            (np.arange(2 * count) < count).astype(int), np.zeros(2 * count, bool)
        )
        recogniser = LinearRecogniser(self.audit.embedder, direction, data.points[kept])
        samples = [data.samples[number] for number in kept]
        origin = Origin(
            self.name or phrase, f"the phrase '{phrase}'", self.answer, phrase=phrase
        )
        return cue_of(samples, shown, recogniser, origin, made=True)

    def of_box(self, edges: tuple[float, float, float, float], key: str) -> Cue:
        """What a region of a sample's middle frame shows.

        It is put into other samples at its place, beside the same region of yet others, so that
        both sides have an edge. Each sample is there with the region and without it.
        """
        self._require([key])
        rng = self.audit.rng("box", key)
        drawn = self.data.samples[self.data.number[key]]
        box = box_of(edges, _middle(drawn).load().size)
        others = [sample for sample in self.data.samples if sample.key != key]
        if len(others) < 4:
            raise UserError(
                "--box", expected="four other samples", got=str(len(others))
            )
        chosen = [others[number] for number in rng.permutation(len(others))]
        bases = chosen[: min(MOST_EXAMPLES, len(chosen) // 2)]
        # of the rest: no sample gets its own region back
        givers = chosen[len(bases) : 2 * len(bases)]
        made = [_pasted(base, drawn, box) for base in bases]
        made += [
            _pasted(base, giver, box) for base, giver in zip(bases, givers, strict=True)
        ]
        points = embed(self.audit, made)
        shows = (np.arange(len(made)) < len(bases)).astype(int)
        label = np.array([self.data.labels.index(str(sample.label)) for sample in made])
        learned = learn(points, label, shows, Groups.of([*bases, *bases]), rng)
        recogniser = LinearRecogniser(
            self.audit.embedder, learned.direction, points, learned.auroc
        )
        shown = Shown(shows, np.zeros(len(made), dtype=bool))
        origin = Origin(
            self.name or "region", f"a region of {key}", self.answer, place=box
        )
        return cue_of(made, shown, recogniser, origin, made=True)

    def refine(self, cue: Cue, clicks: Clicks) -> Cue:
        """The cue with more samples told; its other examples stay."""
        shows = self._told(clicks)
        rng = self.audit.rng("refine cue", cue.identity)
        return refine_cue(self.audit, self.data, cue, shows, rng)

    def _of(
        self, shown: Shown, name: str, way: str, chosen: Candidate | None = None
    ) -> Cue:
        answer = self.answer or (chosen.answer if chosen else None)
        origin = Origin(self.name or name, way, answer)
        rng = self.audit.rng("make cue", way)
        return make_cue(self.data, self.audit.embedder, shown, rng, origin)

    def _told(self, clicks: Clicks) -> np.ndarray:
        both = set(clicks.shown) & set(clicks.others)
        if both:
            raise UserError(
                f"sample '{min(both)}' is given with the cue and without it"
            )
        self._require([*clicks.shown, *clicks.others])
        shows = np.full(len(self.data.samples), -1)
        shows[self.data.listed(clicks.shown)] = 1
        shows[self.data.listed(clicks.others)] = 0
        return shows

    def _require(self, keys: Sequence[str]) -> None:
        known = self.data.number
        for key in keys:
            if key not in known:
                raise UserError(
                    f"no sample '{key}' in the data",
                    expected="a key, as `cuescope export RUN --what answers` lists them",
                    remedy=nearest(key, list(known)),
                )


def _finding(report: Report, wanted: str) -> str:
    """The key of a finding, by its number from 1 on, its key or its name."""
    keys = list(dict.fromkeys(score.feature for score in report.findings))
    if wanted.isascii() and wanted.isdigit() and 1 <= int(wanted) <= len(keys):
        return keys[int(wanted) - 1]
    named = {feature.key: report.names[feature.key] for feature in report.features}
    for key, name in named.items():
        if wanted in (key, name):
            return key
    raise UserError(
        f"--finding {wanted}",
        expected=f"1 to {len(keys)}, or a name" if keys else "a run with findings",
        remedy=nearest(wanted, list(named.values())),
    )


def _names(notes: Mapping[str, Any]) -> Iterator[str]:
    for name, value in notes.items():
        inner = value if isinstance(value, Mapping) else {}
        yield from [f"{name}.{each}" for each in inner] or [name]


def _value(notes: Mapping[str, Any], name: str) -> Any:
    """An annotation by name; `cues.red` is an entry of one that holds several."""
    value: Any = notes
    for part in [name] if name in notes else name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _says(value: Any, wanted: str) -> bool:
    """Whether an annotation has the value, or says yes; of a value a frame, in any of them."""
    if isinstance(value, list | tuple | np.ndarray):
        return any(_says(each, wanted) for each in value)
    if wanted:
        return str(value) == wanted
    return bool(value) if not isinstance(value, str) else value.lower() not in NO


def box_of(edges: tuple[float, float, float, float], size: tuple[int, int]) -> Box:
    """A box of pixels, or of shares; raises UserError for what is none within the picture."""
    is_shares = max(edges) <= 1
    width, height = (1, 1) if is_shares else size
    left, top, right, bottom = edges
    try:
        return Box(
            x0=left / width, y0=top / height, x1=right / width, y1=bottom / height
        )
    except ValueError:
        raise UserError(
            f"--box {','.join(f'{edge:g}' for edge in edges)}",
            expected=f"X0,Y0,X1,Y1 within {size[0]} x {size[1]} pixels, or shares from 0 to 1",
        ) from None


def _middle(sample: Sample) -> Frame:
    return sample.frames[len(sample.frames) // 2]


def _pasted(base: Sample, giver: Sample, box: Box) -> Sample:
    """A sample with a region of another one's middle frame at its place in all frames."""
    source = _middle(giver).load().copy()
    paste = partial(_paste, source=source, box=box)
    name = f"region {box.x0:g} {box.y0:g} {box.x1:g} {box.y1:g} of {giver.key}"
    frames = tuple(frame.derive(name, paste) for frame in base.frames)
    return base.with_frames(frames, name)


def _paste(image: Image.Image, source: Image.Image, box: Box) -> Image.Image:
    left, top, right, bottom = box.pixels(image.size)
    region = source.crop(box.pixels(source.size)).resize((right - left, bottom - top))
    image.paste(region, (left, top))
    return image


def unsure(recognition: Recognition, count: int) -> list[int]:
    """The samples that a recogniser is least sure of (Lewis and Gale, 1994), told ones left out."""
    order = np.argsort(np.abs(recognition.log_odds), kind="stable")
    return [number for number in order.tolist() if not recognition.told[number]][:count]
