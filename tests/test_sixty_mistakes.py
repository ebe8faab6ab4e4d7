"""Mistakes in the code of a plugin: each is told in one line, with exit code 2; none passes."""

from pathlib import Path

import pytest
from command_line import run

# one class of each kind that is right; a mistake is what takes the place of one of its lines
METHOD = """
import cuescope_sdk as sdk
class Idea(sdk.Plugin):
    title = "Idea"
    requires = sdk.Requirements(outputs=frozenset({"logits"}))
    metrics = (sdk.Metric(name="gain", title="Gain", meaning="what is won"),)
    class Options(sdk.Options):
        size: int = 1
    @sdk.hookimpl
    def propose_features(self, audit):
        places = (sdk.Occurrence(sample=audit.samples[0].key),)
        return [sdk.Feature(key="a", kind="part", name="a part", occurrences=places)]
    @sdk.hookimpl
    def perturb(self, audit, features):
        both = frozenset({"logits", "embedding"})
        return [sdk.Trial(sample=sample, outputs=both) for sample in audit.samples]
    @sdk.hookimpl
    def compute_scores(self, audit, features, outcomes):
        told = {"low": 0.1, "high": 0.3, "q_value": 0.01, "n": 9, "statement": "{feature} wins"}
        return [sdk.Score(feature="a", label=None, metric="gain", value=0.2, finding=True, **told)]
    @sdk.hookimpl
    def verify(self, audit, features, scores):
        return [sdk.Evidence(check="sign", verdict="supported", detail="as it should")]
"""
MODEL = """
import numpy as np
import cuescope_sdk as sdk
class Idea(sdk.Plugin):
    capabilities = sdk.Capabilities(outputs=frozenset({"logits", "embedding"}))
    fingerprint = "idea 1"
    facts = {"weights": "none"}
    def respond(self, trials):
        return [self.answer(trial) for trial in trials]
    def answer(self, trial):
        logits = np.zeros(len(trial.sample.choices))
        embedding = np.asarray(trial.sample.frames[0].load(), float).mean((0, 1))
        return sdk.Response(logits=logits, embedding=embedding)
"""
DATA = """
import numpy as np
import cuescope_sdk as sdk
class Idea(sdk.Plugin):
    labels = ("a", "b")
    fingerprint = "idea 1"
    facts = {"drawn": "by rule"}
    def __len__(self):
        return 80
    def __getitem__(self, index):
        label = "ab"[index % 2]
        pixels = np.full((4, 4, 3), index, np.uint8)
        frames = (sdk.Frame.from_array(pixels),)
        return sdk.Sample(key=str(index), frames=frames, choices=self.labels, label=label)
"""
PARTS = {"method": METHOD, "model": MODEL, "dataset": DATA}
MISTAKES = [
    ("method", 'title = "Idea"', "title = 3"),
    ("method", 'title = "Idea"', "pass"),
    ("method", "class Idea(sdk.Plugin):", "class Idea:"),
    ("method", "class Idea(sdk.Plugin):", "def Idea(sdk=sdk):"),
    (
        "method",
        "import cuescope_sdk as sdk",
        "import cuescope_sdk as sdk, no_such_module",
    ),
    ("method", "import cuescope_sdk as sdk", "import cuescope_sdk as sdk ("),
    ("method", 'frozenset({"logits"})', 'frozenset({"logit"})'),
    ("method", 'frozenset({"logits"})', '"logits"'),
    (
        "method",
        'sdk.Requirements(outputs=frozenset({"logits"}))',
        '{"outputs": "logits"}',
    ),
    ("method", "sdk.Requirements(outputs=", "sdk.Requirements(output="),
    (
        "method",
        'metrics = (sdk.Metric(name="gain", title="Gain", meaning="what is won"),)',
        "pass",
    ),
    (
        "method",
        'metrics = (sdk.Metric(name="gain", title="Gain", meaning="what is won"),)',
        'metrics = ("gain",)',
    ),
    ("method", "class Options(sdk.Options):", "class Options:"),
    ("method", "size: int = 1", "size: int"),
    ("method", "size: int = 1", 'size: int = "many"'),
    ("method", "@sdk.hookimpl\n    def propose_features", "def propose_features"),
    (
        "method",
        "def perturb(self, audit, features)",
        "def pertub(self, audit, features)",
    ),
    ("method", "def perturb(self, audit, features)", "def perturb(self, audits)"),
    (
        "method",
        "def verify(self, audit, features, scores)",
        "def verify(self, audit, score)",
    ),
    ("method", "def propose_features(self, audit)", "def propose_features(audit)"),
    ("method", "return [sdk.Feature(", "[sdk.Feature("),
    ("method", "return [sdk.Feature(", "return *[sdk.Feature("),
    (
        "method",
        'return [sdk.Feature(key="a", kind="part", name="a part", occurrences=places)]',
        'return ["a"]',
    ),
    ("method", 'key="a", kind', 'key="b", kind'),
    ("method", 'key="a", kind', "key=1, kind"),
    ("method", "occurrences=places", "places=places"),
    ("method", "audit.samples[0].key", '"nobody"'),
    ("method", "audit.samples[0].key", "audit.samples[9999].key"),
    ("method", "audit.samples[0].key", "audit.sample[0].key"),
    ("method", "audit.samples[0].key", "audit.outcomes[0].trial.sample.key"),
    ("method", "audit.samples[0].key", 'audit.samples[0].annotations["cues"]'),
    (
        "method",
        "return [sdk.Trial(sample=sample, outputs=both) for",
        "return [sample for",
    ),
    (
        "method",
        "return [sdk.Trial(sample=sample, outputs=both) for",
        "return [None for",
    ),
    (
        "method",
        "return [sdk.Trial(sample=sample, outputs=both) for sample in audit.samples]",
        "return 3",
    ),
    ("method", '"logits", "embedding"', '"logit", "embedding"'),
    ("method", "sample=sample, outputs=both", "sample"),
    ("method", "return [sdk.Score(", "[sdk.Score("),
    ("method", 'metric="gain", value', 'metric="loss", value'),
    ("method", 'feature="a", label', 'feature="z", label'),
    ("method", "label=None", 'label="no label"'),
    ("method", "value=0.2", 'value=float("nan")'),
    ("method", "value=0.2", 'value="much"'),
    ("method", "value=0.2", "value=1 / 0"),
    ("method", "value=0.2", 'value={}["x"]'),
    ("method", '"low": 0.1, "high": 0.3', '"low": 0.3, "high": 0.1'),
    ("method", '"low": 0.1, "high": 0.3, ', ""),
    ("method", '"q_value": 0.01', '"q_value": 1.5'),
    ("method", '"q_value": 0.01, ', ""),
    ("method", '"n": 9', '"n": -9'),
    ("method", ', "statement": "{feature} wins"', ""),
    ("method", 'verdict="supported"', 'verdict="yes"'),
    ("method", 'detail="as it should"', "detail=3"),
    ("method", "return [sdk.Evidence(", "[sdk.Evidence("),
    ("method", 'title = "Idea"', 'title = "Idea"\n    def __init__(self): pass'),
    (
        "method",
        'title = "Idea"',
        'title = "Idea"\n    def __init__(self, options, context): pass',
    ),
    ("model", 'fingerprint = "idea 1"', "pass"),
    ("model", 'fingerprint = "idea 1"', "fingerprint = None"),
    ("model", 'facts = {"weights": "none"}', "facts = [1]"),
    (
        "model",
        'capabilities = sdk.Capabilities(outputs=frozenset({"logits", "embedding"}))',
        "pass",
    ),
    ("model", '{"logits", "embedding"}', '{"logit", "embedding"}'),
    ("model", "def respond(self, trials)", "def answers(self, trials)"),
    ("model", "def respond(self, trials)", "def respond(self)"),
    (
        "model",
        "return [self.answer(trial) for trial in trials]",
        "[self.answer(trial) for trial in trials]",
    ),
    ("model", "for trial in trials]", "for trial in trials[1:]]"),
    ("model", "for trial in trials]", "for trial in [*trials, trials[0]]]"),
    ("model", "return [self.answer(trial) for", "return [3 for"),
    ("model", "return sdk.Response", "sdk.Response"),
    ("model", "np.zeros(len(trial.sample.choices))", "np.zeros(7)"),
    (
        "model",
        "np.zeros(len(trial.sample.choices))",
        "np.full(len(trial.sample.choices), np.nan)",
    ),
    (
        "model",
        "np.zeros(len(trial.sample.choices))",
        '["x" for _ in trial.sample.choices]',
    ),
    ("model", "np.zeros(len(trial.sample.choices))", "None"),
    ("model", "embedding=embedding", "embedding=None"),
    ("model", "embedding=embedding", "embedding=embedding[None]"),
    ("model", "embedding=embedding", "embedding=embedding + np.inf"),
    (
        "model",
        "embedding=embedding",
        "embedding=embedding[:len(trial.sample.key) % 3 + 1]",
    ),
    ("model", "embedding=embedding", 'text="a"'),
    ("model", "trial.sample.frames[0].load()", "trial.sample.frames[5].load()"),
    ("model", "trial.sample.frames[0].load()", "trial.frames[0].load()"),
    ("model", "trial.sample.frames[0].load()", "trial.sample.label"),
    ("dataset", 'labels = ("a", "b")', "pass"),
    ("dataset", 'labels = ("a", "b")', 'labels = "ab"'),
    ("dataset", 'labels = ("a", "b")', 'labels = ("a", "a")'),
    ("dataset", 'fingerprint = "idea 1"', "pass"),
    ("dataset", "def __len__(self):", "def length(self):"),
    ("dataset", "return 80", "return 0"),
    ("dataset", "return 80", 'return "80"'),
    ("dataset", "def __getitem__(self, index):", "def get(self, index):"),
    ("dataset", "key=str(index)", "key=index"),
    ("dataset", "key=str(index)", 'key="one"'),
    ("dataset", "frames=frames", "frames=pixels"),
    ("dataset", "frames=frames", "frames=[pixels]"),
    ("dataset", "frames=frames, ", ""),
    ("dataset", "label=label", 'label="c"'),
    ("dataset", "label=label", "label=index % 2"),
    ("dataset", "choices=self.labels", 'choices=("x", "y")'),
    ("dataset", "choices=self.labels", 'choices="ab"'),
    ("dataset", "return sdk.Sample(", "sdk.Sample("),
    ("dataset", "return sdk.Sample(", "return dict("),
    ("dataset", "index, np.uint8", "index, np.complex64"),
    ("dataset", '"ab"[index % 2]', '"ab"[index]'),
]


@pytest.mark.parametrize("mistake", range(len(MISTAKES)))
def test_a_mistake_is_told_in_a_line(
    mistake: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    kind, right, wrong = MISTAKES[mistake]
    assert PARTS[kind].count(right) >= 1
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    for part, source in PARTS.items():
        text = source.replace(right, wrong, 1) if part == kind else source
        Path(f"{part}.py").write_text(text)
    parts = ["--model", "./model.py:Idea", "--data", "./dataset.py:Idea"]
    run("audit", "./method.py:Idea", *parts, "-q", code=2)
    error = capsys.readouterr().err
    assert len(error.strip().splitlines()) == 1
    assert error.startswith("cuescope: ")
