"""Segments with their questions, and the samples that ask each about an original or a complement.

What is looked at by time is a video on disk, or a clip of another data set.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np

from cuescope_clavi.layout import (
    Classes,
    PublishedSegment,
    authors_split,
    in_split,
    read_published_segments,
    read_questions,
)
from cuescope_clavi.options import ClaviOptions
from cuescope_clavi.questions import (
    CHOICES,
    SUBSETS,
    Question,
    QuestionPair,
    complement,
    draw_one,
    negative_controls,
    segment_questions,
)
from cuescope_clavi.segments import (
    Action,
    Segment,
    TimedVideo,
    cut_segment,
    exclusive_pairs,
    source_times,
)
from cuescope_sdk import Context, Frame, Sample, UserError, digest, generator
from cuescope_sdk.data import Probe, TextFile, Videos
from cuescope_sdk.report import count_of

# A time that falls on the border of two frames is of the later one, whatever its last bit says.
ROUNDING = 1e-6
FRAME_STEP = 1.0


@dataclass(frozen=True, slots=True)
class Entry:
    """A segment of a video, and what is asked about the original and about the complement."""

    key: str
    video: str
    segment: Segment
    questions: QuestionPair

    def __len__(self) -> int:
        return sum(map(len, self.questions))


@dataclass(frozen=True, slots=True)
class Footage:
    """`look` gives the frames that are on screen at times; `content` digests what can be seen.

    `group` is what was drawn independently: the source video.
    """

    look: Callable[[Sequence[float]], tuple[Frame, ...]]
    content: str
    group: str


# -------------------------------------------------------------------------------------- entries


def curate(
    videos: Iterable[TimedVideo],
    parts: Mapping[str, frozenset[str]],
    options: ClaviOptions,
    never_asked: frozenset[str] = frozenset(),
) -> tuple[list[Entry], int]:
    """The segments, and how many were left out for want of a negative control.

    `parts` are the object and verb, or the words, of every action; `never_asked` are those that no
    question names, which still occur.
    """
    entries = []
    for video in videos:
        # of the whole video: questions say that a control never occurs
        occurring = frozenset(action.name for action in video.actions)
        pairs = exclusive_pairs(video.actions, options.shortest, never_asked)
        for index, pair in enumerate(pairs):
            # one for each pair: other pairs must leave it as it is
            rng = generator(options.seed, "clavi", video.name, str(index))
            segment = cut_segment(
                *pair,
                video.length,
                rng,
                most=options.extension,
                step=video.step,
            )
            questions = draw_questions(segment, occurring, parts, rng, never_asked)
            key = f"{video.name}-{index}"
            entries.append(questions and Entry(key, video.name, segment, questions))
    return _complete(entries)


def published_entries(
    location: Path,
    split: str,
    classes: Classes,
    videos: Iterable[TimedVideo],
    options: ClaviOptions,
) -> tuple[list[Entry], int]:
    """The published segments of a split, and how many lack a negative control.

    Their questions are the published ones where these files are there, or else newly made of the
    templates, with a negative control that is unlike all that `videos` say of the video.
    """
    # The authors part only Charades' own test split.
    name = f"{authors_split(split)}_annotations.json"
    if location.is_file():
        file = TextFile(location, "clavi")
    else:
        file = TextFile.find(location, name, "clavi")
    # a file that was named itself has its questions beside it
    pairs = read_questions(
        file.path.parent, file.path.name.removesuffix("_annotations.json")
    )
    segments: dict[str, list[PublishedSegment]] = {}
    for published in read_published_segments(file, classes.names):
        if in_split(published.video, split):
            segments.setdefault(published.video, []).append(published)
    occurring = {
        video.name: {action.name for action in video.actions} for video in videos
    }
    entries = []
    for published in chain.from_iterable(segments.values()):
        name = published.video
        if pairs:
            questions = pairs.get(published.key)
        else:
            rng = generator(options.seed, "clavi", published.key)
            actions = published.actions.union(occurring.get(name, ()))
            questions = draw_questions(
                published.segment, actions, classes.parts, rng, classes.objectless
            )
        entries.append(
            questions and Entry(published.key, name, published.segment, questions)
        )
    return _complete(entries)


def draw_questions(
    segment: Segment,
    occurring: frozenset[str],
    parts: Mapping[str, frozenset[str]],
    rng: np.random.Generator,
    never_asked: frozenset[str] = frozenset(),
) -> QuestionPair | None:
    """The questions about both videos; None where every action shares something with these."""
    negative = draw_one(negative_controls(tuple(occurring), parts, never_asked), rng)
    if negative is None:
        return None
    questions = segment_questions(segment.first.name, segment.second.name, negative)
    # the same are asked of both videos; only the answers differ
    return questions, questions


def _complete(entries: Sequence[Entry | None]) -> tuple[list[Entry], int]:
    """The entries that there are, and how many there are not."""
    complete = [entry for entry in entries if entry is not None]
    return complete, len(entries) - len(complete)


# -------------------------------------------------------------------------------------- footage


def open_footage(
    names: Iterable[str],
    root: Path,
    context: Context,
) -> tuple[dict[str, Footage], Videos]:
    """The footage of the videos of these names under `root`, and what is wrong with the others."""
    videos = Videos.open(root, names, context, "clavi")
    footage = {}
    for name, video in videos.good.items():
        footage[name] = Footage(partial(at_seconds, video), video.digest, name)
    return footage, videos


def clip_footage(
    samples: Iterable[Sample],
) -> tuple[list[TimedVideo], dict[str, Footage]]:
    """The samples that have timed actions, as videos whose times are frames.

    Their annotation "actions" says (name, first frame, frame after the last) of each. Raises
    UserError for one that is not within the sample.
    """
    videos = []
    footage = {}
    for sample in samples:
        entries = sample.annotations.get("actions")
        if not entries:
            continue
        actions = tuple(_action(sample, entry) for entry in entries)
        videos.append(TimedVideo(sample.key, len(sample.frames), actions, FRAME_STEP))
        group = sample.group or sample.key
        # The clip's key would not do: another clip may have it.
        shown = [frame.key for frame in sample.frames]
        content = digest(shown) if group == sample.key else digest(shown, group)
        footage[sample.key] = Footage(
            partial(at_positions, sample.frames), content, group
        )
    return videos, footage


def at_seconds(video: Probe, seconds: Sequence[float]) -> tuple[Frame, ...]:
    """What a video shows at these times: of a time after its end, the last frame."""
    times = video.times()
    indices = np.searchsorted(times, np.array(seconds) + ROUNDING, side="right") - 1
    # No `segment`: features of these seconds would be those of the other order, too
    return video.frames_at(np.maximum(indices, 0).tolist())


def at_positions(
    frames: tuple[Frame, ...], positions: Sequence[float]
) -> tuple[Frame, ...]:
    """The frames of a clip in which these positions fall, frame i being from i to i + 1."""
    indices = (np.array(positions) + ROUNDING).astype(int)
    return tuple(frames[index] for index in indices.clip(max=len(frames) - 1).tolist())


def _action(sample: Sample, entry: object) -> Action:
    match entry:
        case (str(name), int(first), int(after)) if (
            0 <= first <= after <= len(sample.frames)
        ):
            return Action(name, float(first), float(after))
    raise UserError(
        f"clavi: an action of {sample.key}",
        expected=f"(name, first frame, frame after the last) within "
        f"{count_of(len(sample.frames), 'frames')}",
        got=repr(entry),
    )


# -------------------------------------------------------------------------------------- samples


def make_sample(
    entry: Entry,
    footage: Footage,
    complemented: bool,
    number: int,
    frames: int,
    split: str | None,
) -> Sample:
    """Question `number` about the original or the complement video."""
    question = entry.questions[complemented][number]
    times = source_times(entry.segment.spans(complemented), frames)
    counterparts = {
        "video": _sample_key(entry, not complemented, question.text),
        "text": _sample_key(entry, complemented, complement(question.text)),
    }
    return Sample(
        # two digits: sorted keys have the order of the questions
        key=f"{video_key(entry, complemented)}-{number:02d}",
        frames=footage.look(times),
        question=question.text,
        choices=CHOICES,
        label=question.answer(complemented),
        # of the complement, too: it shows the same frames
        group=footage.group,
        annotations={
            "question_type": question.kind,
            "subset": SUBSETS[question.kind],
            "split": split,
            # published questions are not always whole
            "counterparts": {name: key for name, key in counterparts.items() if key},
            "video": "complement" if complemented else "original",
            **question_form(question),
            "video_id": entry.video,
            "actions": visible_actions(entry.segment, times),
        },
    )


def question_form(question: Question) -> dict[str, str]:
    """Q, true of the original video, or its complement Q' (table 15); {} for a control question."""
    if SUBSETS[question.kind] == "control":
        return {}
    return {"question_form": "Q" if question.original else "Q'"}


def visible_actions(
    segment: Segment, times: Sequence[float]
) -> tuple[tuple[str, int, int], ...]:
    """(name, first frame, frame after the last) of the segment's actions, looked at at `times`.

    In the order in which they are seen; an action that falls between two frames is none of them.
    """
    visible = []
    seconds = np.array(times)
    for action in (segment.first, segment.second):
        within = np.flatnonzero(
            (action.start <= seconds) & (seconds < action.end)
        ).tolist()
        if within:
            visible.append((action.name, within[0], within[-1] + 1))
    return tuple(sorted(visible, key=lambda span: span[1]))


def video_key(entry: Entry, complemented: bool) -> str:
    """As `video_name` in the published files: KEY_1 is the original, KEY_2 the complement."""
    return f"{entry.key}_{2 if complemented else 1}"


def _sample_key(entry: Entry, complemented: bool, text: str | None) -> str | None:
    """The sample that asks `text` about this video, None where there is none."""
    for number, question in enumerate(entry.questions[complemented]):
        if question.text == text:
            return f"{video_key(entry, complemented)}-{number:02d}"
    return None
