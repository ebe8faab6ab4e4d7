"""CLAVI's clips as files: for features, which are computed of files, and for training."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cuescope_clavi.layout import KINDS, OF_COMPLEMENT
from cuescope_clavi.samples import Entry, video_key
from cuescope_clavi.segments import Span
from cuescope_sdk import UserError
from cuescope_sdk.data import Draft, Probe, open_video

CODECS = ("libx264", "mpeg4")  # the first that this build of PyAV has
# high, for features are computed of these files
QUALITY = {"libx264": {"crf": "18"}, "mpeg4": {"qscale": "2"}}
ROUNDING = 1e-6  # seconds: a frame on a cut is of what comes after it


def write_clips(
    entries: Sequence[Entry],
    videos: Mapping[str, Probe],
    folder: Path,
    split: str,
    advance: Callable[[int], None],
) -> None:
    """Both clips of each segment as `folder`/KEY_1.mp4 and KEY_2.mp4, and their questions.

    Questions and answers are `{split}_q.json` and `_a.json` in the authors' layout. Clips that are
    there already stay. Raises UserError for a source that no frame of a segment can be read from.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for entry in entries:
        for complemented in (False, True):
            target = folder / f"{video_key(entry, complemented)}.mp4"
            # a run that was killed goes on where it was
            if not target.exists():
                # under another name until it is whole: a killed run leaves no half clip
                with Draft(target, suffix=".mp4") as draft:
                    write_clip(
                        videos[entry.video].path,
                        entry.segment.spans(complemented),
                        draft.path,
                    )
            advance(1)
    questions, answers = question_records(entries)
    (folder / f"{split}_q.json").write_text(json.dumps(questions, indent=1), "utf-8")
    (folder / f"{split}_a.json").write_text(json.dumps(answers, indent=1), "utf-8")


def write_clip(source: Path, spans: Iterable[Span], target: Path) -> None:
    """The frames of a video that are on screen in these seconds, span after span, without sound."""
    import av

    codec = next(name for name in CODECS if name in av.codecs_available)
    with open_video(source) as (video, pictures):
        out: Any = None
        with av.open(str(target), "w") as container:
            for start, end in spans:
                for frame in _frames_between(video, pictures, start, end):
                    if out is None:
                        # only now, for its size is that of the first frame
                        out = container.add_stream(
                            codec, rate=pictures.average_rate or 25
                        )
                        # encoders of 4:2:0 want even sides
                        out.width = frame.width // 2 * 2
                        out.height = frame.height // 2 * 2
                        out.pix_fmt = "yuv420p"
                        out.options = QUALITY[codec]
                    frame = frame.reformat(out.width, out.height, "yuv420p")
                    frame.pts = None  # the encoder counts anew
                    container.mux(out.encode(frame))
            if out is None:
                raise UserError(
                    f"clavi: {source.name} shows nothing in the seconds of a segment",
                    remedy="Fetch the video again.",
                )
            # None asks the encoder for the frames that it still holds
            container.mux(out.encode(None))


def _frames_between(
    video: Any,
    pictures: Any,
    start: float,
    end: float,
) -> Iterable[Any]:
    """The decoded frames that come on screen in [start, end), seconds from the first."""
    base = float(pictures.time_base)
    # a stream may begin later than at 0; our times are from its first frame
    first = pictures.start_time or 0
    # to the key frame before
    video.seek(first + int(start / base), stream=pictures, backward=True)
    for frame in video.decode(pictures):
        time = (frame.pts - first) * base
        if time >= end - ROUNDING:
            return
        if time >= start - ROUNDING:
            yield frame


def question_records(
    entries: Sequence[Entry],
) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """The questions and the answers of all clips, as the authors' files have them."""
    # of two numbers of a kind the lower one is written
    numbers = {kind: number for number, kind in reversed(KINDS.items())}
    questions: list[dict[str, object]] = []
    answers: list[dict[str, object]] = []
    for entry in entries:
        for complemented in (False, True):
            for question in entry.questions[complemented]:
                number = str(len(questions))
                questions.append(
                    {
                        "question_id": number,
                        "video_name": video_key(entry, complemented),
                        "question": question.text,
                    }
                )
                answers.append(
                    {
                        "question_id": number,
                        "answer": question.answer(complemented),
                        "type": numbers[question.kind] + OF_COMPLEMENT * complemented,
                    }
                )
    return questions, answers
