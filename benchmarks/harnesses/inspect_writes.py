"""Logs by inspect itself, of a model whose answers are known: plain, shuffled, with pictures.

python inspect_writes.py QUESTIONS.jsonl FOLDER      (in an environment with inspect-ai)
"""

import base64
import json
import sys
from pathlib import Path
from typing import Any

import inspect_ai
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessageUser,
    ContentImage,
    ContentText,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.scorer import choice
from inspect_ai.solver import multiple_choice

LETTERS = "ABCDEFGH"
# a PNG of one pixel
PIXEL = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108020000009077"
        "53de0000000c49444154789c63f8cfc000000301010018dd8db00000000049"
        "454e44ae426082"
    )
).decode()


def samples(rows: list[dict[str, Any]], pictures: bool) -> list[Sample]:
    """A sample a question; the picture is a data URI, which inspect moves to its attachments."""
    made = []
    for row in rows:
        said: Any = row["question"]
        if pictures:
            image = ContentImage(image=f"data:image/png;base64,{PIXEL}")
            content = [ContentText(text=said), image]
            said = [ChatMessageUser(content=content)]
        made.append(
            Sample(
                id=row["number"],
                input=said,
                choices=row["choices"],
                target=row["letter"],
                metadata={"category": row["category"]},
            )
        )
    return made


def answers(rows: list[dict[str, Any]]) -> Any:
    """A model that finds the question in the prompt, and the letter that its choice has there."""

    def answer(messages: Any, *_: Any, **__: Any) -> ModelOutput:
        prompt = messages[-1].text
        row = next(row for row in rows if row["question"] in prompt)
        chosen = row["choices"][row["chosen"]]
        place = next(p for p in LETTERS if f"{p}) {chosen}" in prompt)
        output = ModelOutput.from_content("mockllm/model", f"ANSWER: {place}")
        # counted here, inspect fetches no tokenizer
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    return answer


def main(questions: Path, folder: Path) -> None:
    """Three logs: choices as they are, shuffled in the data, and pictures in two epochs."""
    rows = [json.loads(line) for line in questions.read_text().splitlines()]
    for name, shuffled, pictures, epochs in (
        ("plain", False, False, 1),
        ("shuffled", True, False, 1),
        ("pictures", False, True, 2),
    ):
        data = MemoryDataset(samples(rows, pictures), name=name)
        if shuffled:
            data.shuffle_choices(seed=7)
        task = inspect_ai.Task(
            dataset=data, solver=multiple_choice(), scorer=choice(), name=name
        )
        model = get_model("mockllm/model", custom_outputs=answers(rows), memoize=False)
        [log] = inspect_ai.eval(
            task,
            model=model,
            epochs=epochs,
            log_dir=str(folder / name),
            log_format="eval",
            display="none",
            max_connections=1,
        )
        if log.status != "success":
            raise RuntimeError(f"{name}: {log.error and log.error.message}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute())
