"""What is known of the file of a question, crossed with its options: a large file and yes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
from scipy import sparse

from cuescope_blind.files import (
    FILE_TELLS,
    LEAST_SAMPLES,
    MOST_WORDS,
    FileTell,
    Value,
    facts_of,
    name_facts,
)
from cuescope_blind.questions import PerOption, Questions
from cuescope_blind.tells import Tell, held_out_strength
from cuescope_blind.tells.crossed import cross_with_options
from cuescope_blind.trials import folds_of, questions_of
from cuescope_sdk import Audit, Sample
from cuescope_sdk.statistics import Groups

Facts = Mapping[str, Value]
# a number is in one of so many parts, each of as many questions
PARTS = 5
# as of words of the question: many codes of little weight are summed
PRIOR_WEIGHT = 10.0


def file_tells(audit: Audit) -> list[tuple[Tell, PerOption]]:
    """Each with the strength of every option; for `audit.once`."""
    questions = audit.once(questions_of, audit)
    fold = audit.once(folds_of, audit)
    by_key = {sample.key: sample for sample in audit.samples}
    facts = read_facts(audit, [by_key[key] for key in questions.keys])
    tells = []
    for tell in FILE_TELLS:
        codes = fact_codes(questions, facts, tell)
        if codes is None:
            continue
        strength = held_out_strength(
            questions, codes, questions.right, fold, PRIOR_WEIGHT
        )
        name = f"the option that is oftenest right with {tell.name}"
        tells.append((Tell(tell.key, name), strength))
    return tells


def read_facts(audit: Audit, samples: Sequence[Sample]) -> list[Facts]:
    """Of each sample; where there is no file, what the name of its video says."""
    # many questions are about one file
    read: dict[str, Facts] = {}
    facts = []
    with audit.context.progress("files read", len(samples)) as advance:
        for sample in samples:
            video = str(sample.annotations.get("video_id") or sample.group or "")
            source = sample.frames[0].source if sample.frames else None
            name = video if source is None else str(source.path)
            if name not in read:
                read[name] = facts_of(sample) or name_facts(video)
            facts.append(read[name])
            advance(1)
    return facts


def fact_codes(
    questions: Questions,
    facts: Sequence[Facts],
    tell: FileTell,
) -> sparse.csr_array | None:
    """A row an option, a column a fact with an option; None where all files are alike."""
    named = Counter(filter(tell.sees, chain.from_iterable(facts)))
    columns = []
    # the words of names are as many as videos
    for fact, count in named.most_common(MOST_WORDS):
        if count >= LEAST_SAMPLES:
            columns.extend(_parts_of([of_file.get(fact) for of_file in facts]))
    if not columns:
        return None
    table = sparse.csr_array(np.stack(columns, axis=1).astype(float))
    return cross_with_options(questions, table)


def _parts_of(values: Sequence[Value]) -> list[np.ndarray]:
    """Which questions have each word, or a number within each part of its range."""
    words = Counter(value for value in values if isinstance(value, str))
    parts = []
    for word, _ in words.most_common(MOST_WORDS):
        parts.append(np.array([value == word for value in values]))
    # None becomes NaN, which lies in no part
    numbers = np.array(
        [np.nan if isinstance(value, str) else value for value in values], dtype=float
    )
    there = np.isfinite(numbers)
    if there.any():
        part = np.full(len(numbers), -1)
        part[there] = Groups.equal_parts(numbers[there], PARTS)
        parts.extend(part == number for number in range(part.max() + 1))
    # of a part of few questions nothing is learned, and one of all tells none apart
    return [
        questions
        for questions in parts
        if LEAST_SAMPLES <= questions.sum() < len(questions)
    ]


__all__ = ["fact_codes", "file_tells", "read_facts"]
