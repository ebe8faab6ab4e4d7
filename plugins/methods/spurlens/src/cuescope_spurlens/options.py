"""The options of SpurLens; docs/spurlens.md argues the defaults."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, PositiveInt, field_validator

from cuescope_sdk import Names, Options, Words

Removal = Literal["drop", "mask"]
Mitigation = Literal["ensemble", "dual", "guiding", "spurious-list", "spurious-top"]
# In the three forms of appendix A.1: do you see, is there, determine whether.
QUESTIONS = (
    "Do you see {object} in the image?",
    "Is there {object} in the image?",
    "Determine whether there is {object} in the image.",
)
MOST_NEGATIVES = 5000  # images that `others` draws (section 5.2)
RANKINGS = 16  # of the random baseline, of which the largest gap is shown (appendix N)
# as the paper ends its questions (appendices G and H)
TELL = "Answer with 'Yes' or 'No'."


class SpurLensOptions(Options):
    """What is asked, how chance is measured, and which checks are made."""

    task: Literal["recognition", "hallucination", "both"] = Field(
        "both", description="images with the object, images without it, or both"
    )
    classes: Annotated[tuple[str, ...], Words()] = Field(
        (), description="only these classes: NAME,NAME"
    )
    k: PositiveInt | None = Field(
        None,
        description="images that show a cue most, and as many that show it least; none: the "
        "paper's, 100 for COCO and 50 for other data",
    )
    questions: Annotated[tuple[str, ...] | None, Words()] = Field(
        None,
        min_length=1,
        description="yes/no questions about an image; {object} is the class with its article. "
        "none: the paper's three forms, and a model that writes is told \"Answer with 'Yes' or "
        "'No'.\"",
    )
    discover: float = Field(
        0.5,
        gt=0,
        le=1,
        description="share of the images in which cues are looked for; what is found is measured "
        "in the others. 1 (the paper): in all",
    )
    # the paper starts from 32 proposals a class (section 5)
    max_cues: PositiveInt = Field(
        32, description="most cues that are tried for a class"
    )
    negatives: Literal["auto", "supercategory", "others", "all"] = Field(
        "auto",
        description="images without the object: those of its supercategory (COCO), a random draw "
        "of all others (ImageNet), or all; auto: by supercategory where the data has them, else "
        "others",
    )
    artificial: tuple[Literal["drop", "mask", "blank"], ...] = Field(
        (),
        description="add images without the object: its tokens dropped, its pixels blackened, or "
        "an all-black image",
    )
    draws: PositiveInt = Field(2000, description="how often chance is drawn, at least")
    level: float = Field(
        0.05,
        gt=0,
        lt=1,
        description="a finding has a q-value of at most this",
    )
    mitigation: tuple[Mitigation, ...] = Field(
        (),
        description="other ways of asking that are compared, as in the paper's table 4",
    )
    beside: Literal["Qwen2-VL", "Llama-3.2", "LLaVA-v1.6", "GPT-4o-mini"] = Field(
        "Qwen2-VL",
        description="the model whose figures of the paper stand beside, on its data",
    )
    # appendix O; Grounding DINO and a YOLO in ONNX are the paper's others
    second_detector: Annotated[str | None, Names.plugin()] = Field(
        None,
        description="SPEC of another detector, by which the findings are ranked again",
    )
    second_proposer: Annotated[str | None, Names.plugin()] = Field(
        None,
        description="SPEC of another proposer, whose cues are compared with these (by the tool "
        "sentence-encoder if there is one)",
    )
    # `cuescope label` writes it; appendix F compares people and detector
    labels: Path | None = Field(
        None, description="a CSV file of people's labels: image,cue,present (yes or no)"
    )
    probe_sweep: bool = Field(
        False,
        description="the probe of the vision encoder at several sizes and class balances, too "
        "(appendix M)",
    )

    @property
    def tasks(self) -> tuple[Literal["recognition", "hallucination"], ...]:
        """What is compared on the images as they are."""
        return ("recognition", "hallucination") if self.task == "both" else (self.task,)

    @property
    def removals(self) -> tuple[Removal, ...]:
        """How objects are taken out of their images."""
        return tuple(removal for removal in self.artificial if removal != "blank")

    @field_validator("questions")
    @classmethod
    def _name_the_object(
        cls, questions: tuple[str, ...] | None
    ) -> tuple[str, ...] | None:
        for question in questions or ():
            if "{object}" not in question:
                raise ValueError(f"{{object}} in each question, not in '{question}'")
        return questions
