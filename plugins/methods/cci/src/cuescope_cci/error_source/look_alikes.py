"""Do two classes look alike? What tells a fine-grained error from any other (appendix A.4.1)."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import yaml
from jaxtyping import Bool, Float64

from cuescope_cci.options import CCIOptions
from cuescope_cci.scores import closest_pairs
from cuescope_sdk import Audit, Readout, Trial, UserError
from cuescope_sdk.data import load_yaml

Pair = tuple[str, str]
Judged = dict[Pair, bool | None]
Judge = Callable[[Sequence[Pair]], Judged]
# "not similar" has the word, and is the opposite
DENIALS = frozenset({"not", "no", "never", "cannot", "hardly", "neither", "nor"})

PROMPT = """\
You know what things look like. Two categories: "{true}" and "{predicted}".
Going by appearance alone (shape, texture, colour, size, typical parts): would a person looking at \
an ordinary photo easily take one for the other?
Answer with one word: "similar" if they look alike, "different" if they are clearly distinct."""


class ChoiceSimilarity(Readout):
    """Cosines between the class embeddings of all choices of a sample, (choice, choice)."""

    name = "cci-choice-similarity-1"
    gives: ClassVar[Any] = Float64[np.ndarray, "choice other"]
    choices: tuple[str, ...]

    def read(self, model: Any, trials: Sequence[Trial]) -> list[np.ndarray]:
        """The same for every trial."""
        rows = np.asarray(model.embed_choices(self.choices), dtype=np.float64)
        # rows have unit length, so products are cosines
        return [rows @ rows.T] * len(trials)

    def accepts(self, array: np.ndarray, trial: Trial) -> bool:
        """A cosine for each pair of choices."""
        is_table = super().accepts(array, trial)
        return is_table and array.shape == (len(self.choices), len(self.choices))


def choose_judge(audit: Audit, options: CCIOptions) -> tuple[str, Judge]:
    """The judge that the options name, in words, and as a function of (true, predicted) pairs.

    Raises UserError where what it needs is not there.
    """
    families = _families(audit, options.taxonomy)
    kind = options.judge
    # what is there decides, best first: the paper asks a language model
    if kind == "auto":
        kind = "taxonomy" if families else "embedding"
        if "text-generator" in audit.tools:
            kind = "llm"
    match kind:
        case "llm":
            return "a language model is asked about each pair of classes", partial(
                _ask, audit
            )
        case "taxonomy":
            if not families:
                raise UserError(
                    "cci: judge=taxonomy without families of labels",
                    expected="annotations['family'], or -O taxonomy=FILE.yaml (label: family)",
                )
            return "same family of labels", partial(_compare_families, families)
        case _:
            share = (
                f"the closest {1 - options.alike:.0%} of all pairs of class embeddings"
            )
            return share, partial(_compare_embeddings, audit, options.alike)


def _families(audit: Audit, file: Path | None) -> dict[str, str]:
    """Label -> family, from the file, else from the samples' annotation."""
    families = {}
    if file is None:
        for sample in audit.samples:
            family = sample.annotations.get("family")
            if sample.label and family:
                families[sample.label] = str(family)
        return families
    try:
        content = load_yaml(file.read_bytes())
    except (OSError, yaml.YAMLError) as error:
        raise UserError(
            f"cci: cannot read {file}", got=" ".join(str(error).split())
        ) from error
    if not isinstance(content, Mapping):
        raise UserError(f"cci: {file}", expected="a mapping of label: family")
    for label, family in content.items():
        # YAML reads a bare 7 or yes as a number or a truth value, and labels are texts.
        families[str(label)] = str(family)
    return families


def _compare_families(families: Mapping[str, str], pairs: Sequence[Pair]) -> Judged:
    """None where a label has no family."""
    judged: Judged = {}
    for pair in pairs:
        true, predicted = map(families.get, pair)
        # two labels without a family are not of the same one
        is_known = true is not None and predicted is not None
        judged[pair] = true == predicted if is_known else None
    return judged


def _ask(audit: Audit, pairs: Sequence[Pair]) -> Judged:
    prompts = [
        PROMPT.format(true=true, predicted=predicted) for true, predicted in pairs
    ]
    # all at once, as a language model batches; none where nothing is wrong
    answers = audit.tools["text-generator"].generate(prompts) if prompts else []
    return dict(zip(pairs, map(parse_similar, answers), strict=True))


def parse_similar(answer: str) -> bool | None:
    """True for "similar", False for "different", None for both, neither or a denial.

    >>> parse_similar("**Similar**."), parse_similar("different"), parse_similar("not sure")
    (True, False, None)
    """
    # Language models write typographic apostrophes: aren\u2019t must count as aren't.
    tokens = re.findall("[a-z']+", answer.lower().replace("\u2019", "'"))
    words = {token.strip("'") for token in tokens}
    denied = words & DENIALS or any(word.endswith("n't") for word in words)
    verdict = words & {"similar", "different"}
    # an answer that is not understood must not count for either side
    if denied or len(verdict) != 1:
        return None
    return verdict == {"similar"}


def _compare_embeddings(audit: Audit, alike: float, pairs: Sequence[Pair]) -> Judged:
    """The model's own class embeddings: what it can hardly tell apart by name."""
    judged: Judged = {}
    close = None
    for true, predicted in pairs:
        # a text of the user's own has no place among the class embeddings
        if true in audit.labels and predicted in audit.labels:
            # only when the first pair needs them: embeddings of all classes cost a trial
            if close is None:
                close = _close_labels(audit, alike)
            row = audit.labels.index(true)
            judged[true, predicted] = bool(close[row, audit.labels.index(predicted)])
    return judged


def _close_labels(audit: Audit, alike: float) -> Bool[np.ndarray, "choice choice"]:
    # The readout needs some trial to travel with; what it returns is of the choices alone.
    readout = ChoiceSimilarity(choices=audit.labels)
    [outcome] = audit.respond([readout.of(audit.samples[0])])
    return closest_pairs(np.asarray(outcome.response.readout), alike)
