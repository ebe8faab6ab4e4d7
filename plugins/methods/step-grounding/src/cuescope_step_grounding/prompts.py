"""What a model is asked: the question, and how its reasoning is to be written."""

from cuescope_sdk import Sample, Trial
from cuescope_sdk.grounding import times_of
from cuescope_step_grounding.naming import Style

NO_QUESTION = "What is shown?"

_ENDING = "End with a line that begins with 'Answer:' and holds the answer alone."
_ASKED: dict[Style, str] = {
    "minimal": f"Reason in {{steps}} numbered steps about what can be seen. {_ENDING}",
    "neutral": "Reason in {steps} short numbered steps, in the order in which things happen. In "
    "each step, name the frame and say what can be seen there: things, how they look, where they "
    f"are, and what happens. {_ENDING}",
    "verbose": "Work towards the answer in {steps} numbered steps that go through the video from "
    "its first frame to its last. For each step, name the frames that it is about, describe the "
    "things that can be seen there and their looks, say where they are relative to one another "
    "and what they do, tell what has changed since the step before, and explain what this means "
    f"for the question. Claim only what the frames show. {_ENDING}",
    "lite": "Give no explanation. Choose {steps} key moments, and state what can be seen at each, "
    'as a JSON list of objects such as {{"frame": 1, "belief": "what can be seen"}}. ' + _ENDING,
}


def prompt(sample: Sample, style: Style, steps: str = "6 to 8") -> str:
    """The question of a sample as a model reads it; `natural` adds nothing to it but its choices.

    Frames are counted from 1, as the claims' parser counts them.
    """
    question = (sample.question or NO_QUESTION).strip()
    if sample.choices:
        question += f"\nChoices: {'; '.join(sample.choices)}."
    if style == "natural":
        return question
    return f"{question}\n{_frames(sample)}{_ASKED[style].format(steps=steps)}"


def to_ask(sample: Sample, style: Style, steps: str, condition: str = "baseline") -> Trial:
    """The trial that brings a trace. What is known of the sample stays behind.

    The choices are in the words: models that list them for a letter would get no steps.
    """
    shown = Sample(
        key=f"{sample.key}/{style}", frames=sample.frames, question=prompt(sample, style, steps)
    )
    return Trial(sample=shown, condition=condition, outputs=frozenset({"text"}))


def recorded(sample: Sample) -> Trial:
    """The trial that brings what was recorded of a sample, which is known by what it shows."""
    return Trial(sample=sample, outputs=frozenset({"text"}))


def _frames(sample: Sample) -> str:
    count = len(sample.frames)
    if count < 2:
        return ""
    times = times_of(sample)
    until = f" from {times[0]:g} to {times[-1]:g} seconds" if times else ""
    return f"The video is shown as {count} frames{until}; frame 1 is the first, {count} the last.\n"
