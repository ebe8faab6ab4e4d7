"""The one import of a plugin author: the words of cuescope, its hooks, and its Protocols."""

from cuescope.audit import Audit
from cuescope.capabilities import (
    Capabilities,
    Dataset,
    Detection,
    Detector,
    EmbedsChoices,
    EmbedsText,
    Executor,
    HasPatches,
    HasSplits,
    ImageEditor,
    Loads,
    Method,
    Model,
    Proposer,
    Requirements,
    Segmenter,
    SentenceEncoder,
    TextGenerator,
)
from cuescope.context import Context
from cuescope.digest import digest
from cuescope.errors import BadDataError, PluginError, Unanswered, UserError, nearest
from cuescope.hookspecs import hookimpl
from cuescope.lab import Lab
from cuescope.plugin import Plugin
from cuescope.request import Request
from cuescope.seeds import derive, generator
from cuescope.store import load_report
from cuescope.types import (
    AverageAttention,
    AverageTokens,
    Cell,
    Edit,
    Evidence,
    Feature,
    Frame,
    HideTokens,
    Metric,
    Occurrence,
    Options,
    Outcome,
    Output,
    Picture,
    Reading,
    Report,
    Response,
    Sample,
    Score,
    Table,
    Trial,
    Verdict,
)
from cuescope_sdk.bench import Bench

__all__ = [
    # the words
    "Frame", "Sample", "Edit", "HideTokens", "AverageAttention", "AverageTokens",
    "Reading", "Trial", "Response", "Outcome", "Output",
    "Feature", "Occurrence", "Metric", "Score", "Evidence", "Verdict", "Report",
    "Table", "Cell", "Picture",
    # plugins
    "Plugin", "Options", "Context", "Audit", "hookimpl",
    "Method", "Model", "Dataset", "Capabilities", "Requirements", "Loads",
    "Detector", "Detection", "Segmenter", "TextGenerator", "SentenceEncoder", "ImageEditor",
    "Proposer", "Executor", "HasSplits", "EmbedsText", "EmbedsChoices", "HasPatches",
    # benches
    "Bench", "Lab", "Request", "load_report",
    # errors, digests, seeds
    "UserError", "PluginError", "BadDataError", "Unanswered", "nearest",
    "digest", "generator", "derive",
]  # fmt: skip
