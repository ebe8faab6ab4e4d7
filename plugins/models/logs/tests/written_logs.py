"""The same answers, written as each harness writes them."""

import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

LETTERS = "ABCDEFGH"


@dataclass(frozen=True)
class Item:
    """A question, what is right and what was chosen."""

    number: int
    question: str
    choices: tuple[str, ...]
    label: int
    answer: int
    category: str = "plain"

    @property
    def key(self) -> str:
        return f"{self.number // 4}_{self.number}"

    @property
    def prompt(self) -> str:
        lines = [f"{LETTERS[n]}. {choice}" for n, choice in enumerate(self.choices)]
        return "\n".join([self.question, *lines, "Answer with the letter."])

    @property
    def right(self) -> bool:
        return self.label == self.answer


def items(count: int, accuracy: float = 0.6, seed: int = 0) -> list[Item]:
    """Questions with four choices; the model is right as often, and errs evenly."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(count):
        label = int(rng.integers(4))
        others = [place for place in range(4) if place != label]
        answer = label if rng.random() < accuracy else int(rng.choice(others))
        choices = tuple(
            f"thing {int(rng.integers(1000))}-{place}" for place in range(4)
        )
        category = "odd" if number % 2 else "even"
        made.append(
            Item(
                number,
                f"What is item {number} made of?",
                choices,
                label,
                answer,
                category,
            )
        )
    return made


def accuracy_of(written: Sequence[Item]) -> float:
    return sum(item.right for item in written) / len(written)


# -------------------------------------------------------------------------------- each format


def write_inspect(folder: Path, written: Sequence[Item]) -> Path:
    path = folder / "2026-01-01T00-00-00_task_abc.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(inspect_header(written)))
        for item in written:
            sample = inspect_sample(item)
            archive.writestr(f"samples/{item.key}_epoch_1.json", json.dumps(sample))
    return path


def write_inspect_chunked(folder: Path, written: Sequence[Item]) -> Path:
    """Version 3, packed by zstd: long texts are attachments, messages a pool."""
    path = folder / "chunked.eval"
    with zstd_archive(path) as add:
        add("header.json", inspect_header(written) | {"version": 3})
        for item in written:
            sample = shuffled_by_solver(item)
            prefix = f"samples/{item.key}_epoch_1"
            messages = sample.pop("messages")
            texts = [messages[0]["content"]]
            messages[0]["content"] = "attachment://0"
            add(f"{prefix}/sample.json", sample | {"message_refs": [[0, 1], [1, 2]]})
            add(f"{prefix}/messages/0.json", messages[:1])
            add(f"{prefix}/messages/1.json", messages[1:])
            add(f"{prefix}/attachments/0.json", texts)
            add(f"{prefix}/metadata.json", {"category": item.category})
    return path


def inspect_header(written: Sequence[Item]) -> dict[str, Any]:
    metrics = {"accuracy": {"name": "accuracy", "value": accuracy_of(written)}}
    return {
        "version": 2,
        "status": "success",
        "eval": {"task": "task", "model": "openai/m", "dataset": {"name": "made"}},
        "results": {"scores": [{"name": "choice", "metrics": metrics}]},
    }


def inspect_sample(item: Item) -> dict[str, Any]:
    """Shuffled: the model saw the choices from the last to the first."""
    shown = item.choices[::-1]
    lines = "\n".join(f"{LETTERS[n]}) {choice}" for n, choice in enumerate(shown))
    said = f"ANSWER: {LETTERS[3 - item.answer]}"
    return {
        "id": item.key,
        "epoch": 1,
        "input": item.question,
        "choices": list(item.choices),
        "target": LETTERS[item.label],
        "messages": [
            {"role": "user", "content": f"Answer.\n\n{item.question}\n\n{lines}"},
            {"role": "assistant", "content": said},
        ],
        "output": {"choices": [{"message": {"role": "assistant", "content": said}}]},
        "scores": {
            "choice": {
                "value": "C" if item.right else "I",
                "answer": LETTERS[item.answer],
            }
        },
        "metadata": {"category": item.category},
    }


def shuffled_by_solver(item: Item) -> dict[str, Any]:
    """The messages are back in order, and the score says what was sent."""
    sample = inspect_sample(item)
    sent = sample["messages"][0]["content"].partition(item.question)[2]
    lines = "\n".join(
        f"{LETTERS[n]}) {choice}" for n, choice in enumerate(item.choices)
    )
    sample["messages"][0]["content"] = f"Answer.\n\n{item.question}\n\n{lines}"
    said = f"ANSWER: {LETTERS[item.answer]}"
    sample["messages"][1]["content"] = said
    sample["output"] = {
        "choices": [{"message": {"role": "assistant", "content": said}}]
    }
    sample["scores"]["choice"]["explanation"] = (
        "Choices were shuffled before generating a response, the following was sent to the "
        f"model:{sent}\nShuffled answer:\nANSWER: {LETTERS[3 - item.answer]}"
    )
    return sample


def write_lm_eval(folder: Path, written: Sequence[Item]) -> Path:
    """Log-likelihoods, and each line twice, once a filter."""
    date = "2026-01-21T03-44-18.458309"
    path = folder / f"samples_made_{date}.jsonl"
    with path.open("w") as file:
        for item in written:
            arguments = {
                f"gen_args_{n}": {"arg_0": item.question, "arg_1": f" {choice}"}
                for n, choice in enumerate(item.choices)
            }
            # its writer makes texts of them
            pairs = [[str(-5.0 - n), "False"] for n in range(4)]
            pairs[item.answer] = ["-0.5", "True"]
            line = {
                "doc_id": item.number,
                "doc": {"question": item.question, "choices": item.choices},
                "target": item.label,
                "arguments": arguments,
                "filtered_resps": pairs,
                "metrics": ["acc"],
                "acc": float(item.right),
            }
            for name in ("none", "other"):
                file.write(json.dumps(line | {"filter": name}) + "\n")
    results = {"results": {"made": {"alias": "made", "acc,none": accuracy_of(written)}}}
    (folder / f"results_{date}.json").write_text(json.dumps(results))
    return path


def write_lmms_eval(folder: Path, written: Sequence[Item]) -> Path:
    path = folder / "20260101_000000_samples_made.jsonl"
    with path.open("w") as file:
        for item in written:
            line = {
                "doc_id": item.number,
                "target": LETTERS[item.label],
                "filtered_resps": LETTERS[item.answer],
                "doc_hash": "x",
                "input": item.prompt,
                "average": {"category": item.category, "score": float(item.right)},
            }
            file.write(json.dumps(line) + "\n")
    results = {
        "results": {"made": {"average,none": accuracy_of(written)}},
        "model_name": "m",
    }
    (folder / "20260101_000000_results.json").write_text(json.dumps(results))
    return path


def vlm_rows(written: Sequence[Item]) -> list[dict[str, Any]]:
    rows = []
    for item in written:
        row = {"index": item.number, "question": item.question}
        row |= dict(zip(LETTERS, item.choices, strict=False))
        row |= {"answer": LETTERS[item.label], "category": item.category}
        rows.append(row | {"prediction": f"({LETTERS[item.answer]}) it is"})
    return rows


def write_vlm_xlsx(folder: Path, written: Sequence[Item]) -> Path:
    path = folder / "m_Made.xlsx"
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    rows = vlm_rows(written)
    sheet.append(list(rows[0]))
    for row in rows:
        sheet.append(list(row.values()))
    book.save(path)
    return path


def write_vlm_tsv(folder: Path, written: Sequence[Item]) -> Path:
    rows = vlm_rows(written)
    lines = ["\t".join(rows[0])]
    lines += ["\t".join(map(str, row.values())) for row in rows]
    path = folder / "m_Made.tsv"
    path.write_text("\n".join(lines) + "\n")
    return path


def write_vlm_json(folder: Path, written: Sequence[Item]) -> Path:
    path = folder / "m_Made.json"
    path.write_text(json.dumps(vlm_rows(written)))
    return path


def write_lighteval(folder: Path, written: Sequence[Item]) -> Path:
    rows = []
    for item in written:
        likelihoods = [-4.0] * 4
        likelihoods[item.answer] = -1.0
        doc = {"query": item.question, "choices": list(item.choices), "id": item.key}
        doc |= {"gold_index": [item.label], "specific": {"category": item.category}}
        response = {"text": [], "logprobs": likelihoods}
        rows.append(
            {
                "doc": doc,
                "metric": {"acc": float(item.right)},
                "model_response": response,
            }
        )
    path = folder / "details_made_2026-01-01T00-00-00.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def write_evalscope(folder: Path, written: Sequence[Item]) -> Path:
    path = folder / "reviews" / "m" / "made_default.jsonl"
    path.parent.mkdir(parents=True)
    with path.open("w") as file:
        for item in written:
            said = f"The answer is {LETTERS[item.answer]}."
            score = {
                "value": {"acc": float(item.right)},
                "extracted_prediction": LETTERS[item.answer],
                "prediction": said,
                "main_score_name": "acc",
            }
            review = {"score": score, "sample_id": item.number, "group_id": item.number}
            line = {
                "index": item.number,
                "target": [LETTERS[item.label]],
                "messages": [
                    {"role": "user", "content": item.prompt},
                    {"role": "assistant", "content": said},
                ],
                "sample_score": review | {"sample_metadata": {"kind": item.category}},
            }
            file.write(json.dumps(line) + "\n")
    report = folder / "reports" / "m" / "made.json"
    report.parent.mkdir(parents=True)
    subset = {"name": "default", "score": accuracy_of(written), "num": len(written)}
    metric = {
        "name": "mean_acc",
        "categories": [{"name": ["default"], "subsets": [subset]}],
    }
    report.write_text(json.dumps({"model_name": "m", "metrics": [metric]}))
    return path


def write_helm(folder: Path, written: Sequence[Item]) -> Path:
    run = folder / "made,model=m"
    run.mkdir()
    states = []
    figures = []
    for item in written:
        references = [
            {"output": {"text": choice}, "tags": ["correct"] if n == item.label else []}
            for n, choice in enumerate(item.choices)
        ]
        instance = {
            "input": {"text": item.question},
            "references": references,
            "id": item.key,
        }
        said = f" {LETTERS[item.answer]}"
        states.append(
            {
                "instance": instance | {"split": "test"},
                "train_trial_index": 0,
                "output_mapping": dict(zip(LETTERS, item.choices, strict=False)),
                "request": {"prompt": item.prompt},
                "result": {"success": True, "completions": [{"text": said}]},
            }
        )
        stat = {
            "name": {"name": "exact_match", "split": "test"},
            "mean": float(item.right),
        }
        figures.append(
            {"instance_id": item.key, "train_trial_index": 0, "stats": [stat]}
        )
    state = {"adapter_spec": {"model": "m"}, "request_states": states}
    (run / "scenario_state.json").write_text(json.dumps(state))
    (run / "per_instance_stats.json").write_text(json.dumps(figures))
    (run / "run_spec.json").write_text(json.dumps({"name": "made"}))
    return run


def write_next_qa(folder: Path, written: Sequence[Item]) -> Path:
    path = folder / "M-val.json"
    entries = {i.key: {"prediction": i.answer, "answer": i.label} for i in written}
    path.write_text(json.dumps(entries))
    return path


def write_mmmu(folder: Path, written: Sequence[Item]) -> Path:
    path = folder / "total_val_output.json"
    said = {f"validation_Art_{i.number}": LETTERS[i.answer] for i in written}
    path.write_text(json.dumps(said, indent=1))
    truths = {
        f"validation_Art_{i.number}": {
            "question_type": "multiple-choice",
            "ground_truth": LETTERS[i.label],
        }
        for i in written
    }
    (folder / "answer_dict_val.json").write_text(json.dumps(truths))
    return path


def write_mmmu_pro(folder: Path, written: Sequence[Item]) -> Path:
    path = folder / "m_standard.jsonl"
    with path.open("w") as file:
        for item in written:
            line = {
                "id": f"test_Art_{item.number}",
                "question": item.question,
                "options": str(list(item.choices)),
                "answer": LETTERS[item.label],
                "response": f"Let me see. Answer: {LETTERS[item.answer]}",
                "subject": item.category,
            }
            file.write(json.dumps(line) + "\n")
    return path


def write_table(folder: Path, written: Sequence[Item]) -> Path:
    path = folder / "mine.csv"
    lines = ["key,question,options,answer,prediction,kind"]
    for item in written:
        options = json.dumps(list(item.choices)).replace('"', '""')
        cells = (
            f"{item.choices[item.label]},{item.choices[item.answer]},{item.category}"
        )
        lines.append(f'{item.key},{item.question},"{options}",{cells}')
    path.write_text("\n".join(lines) + "\n")
    return path


WRITERS: dict[str, Callable[[Path, Sequence[Item]], Path]] = {
    "inspect": write_inspect,
    "inspect, chunks by zstd": write_inspect_chunked,
    "lm-eval": write_lm_eval,
    "lmms-eval": write_lmms_eval,
    "vlmevalkit xlsx": write_vlm_xlsx,
    "vlmevalkit tsv": write_vlm_tsv,
    "vlmevalkit json": write_vlm_json,
    "lighteval": write_lighteval,
    "evalscope": write_evalscope,
    "helm": write_helm,
    "next-qa": write_next_qa,
    "mmmu": write_mmmu,
    "mmmu-pro": write_mmmu_pro,
    "table": write_table,
}


@contextmanager
def zstd_archive(path: Path) -> Iterator[Callable[[str, Any], None]]:
    """A ZIP whose members are packed by method 93, in two frames each, as inspect writes them."""
    directory = []
    with path.open("wb") as file:

        def add(name: str, value: Any) -> None:
            content = json.dumps(value).encode()
            pack = zstandard.ZstdCompressor().compress
            packed = pack(content[:10]) + pack(content[10:])
            encoded = name.encode()
            fields = (20, 0, 93, 0, 0, zlib.crc32(content), len(packed), len(content))
            sizes = struct.pack("<HHHHHIII", *fields)
            lengths = struct.pack("<HH", len(encoded), 0)
            offset = file.tell()
            file.write(b"PK\x03\x04" + sizes + lengths + encoded + packed)
            rest = struct.pack("<HHHII", 0, 0, 0, 0, offset)
            directory.append(b"PK\x01\x02\x14\x00" + sizes + lengths + rest + encoded)

        yield add
        start = file.tell()
        table = b"".join(directory)
        file.write(table)
        end = file.tell()
        count = len(directory)
        # the long form, which a log of many samples needs
        fields_of_end = (44, 45, 45, 0, 0, count, count, len(table), start)
        file.write(b"PK\x06\x06" + struct.pack("<QHHIIQQQQ", *fields_of_end))
        file.write(b"PK\x06\x07" + struct.pack("<IQI", 0, end, 1))
        short = min(count, 0xFFFF)
        counts = struct.pack("<HHHH", 0, 0, short, short)
        file.write(b"PK\x05\x06" + counts + struct.pack("<IIH", len(table), start, 0))
