"""The one import of a plugin author: the words of cuescope, its hooks, and its Protocols."""

# the engine's words alone: no command line, terminal or page comes along (docs/adr/0022)
from cuescope.auditing import Audit
from cuescope.capabilities import (
    Capabilities,
    Dataset,
    Detection,
    Detector,
    Embedder,
    EmbedsText,
    HasBenchmark,
    HasPlantedCues,
    HasSplits,
    ImageEdit,
    ImageEditor,
    LazyWeights,
    Model,
    Proposer,
    Requirements,
    Segmenter,
    SentenceEncoder,
    TextGenerator,
    ToolRole,
)
from cuescope.conclusions import (
    Accuracy,
    Cell,
    Contrast,
    Evidence,
    Exhibit,
    Feature,
    Metric,
    Occurrence,
    Picture,
    Portrait,
    Report,
    Score,
    Side,
    Table,
    Verdict,
)
from cuescope.context import Context
from cuescope.digest import digest
from cuescope.errors import BadDataError, PlanStopped, PluginError, UserError, nearest
from cuescope.hookspecs import hookimpl
from cuescope.installing import how_to_install
from cuescope.ledger import Ledger
from cuescope.plugin import Plugin
from cuescope.printable import printable
from cuescope.request import Request
from cuescope.sealed import DamagedFileError, read_sealed, write_sealed
from cuescope.seeds import derive, generator
from cuescope.store import CacheFile
from cuescope.stored_run import StoredRun
from cuescope.tested import Tested
from cuescope.trust.addresses import Address
from cuescope.trust.paths import inside
from cuescope.trust.risks import (
    Names,
    NeedsAllow,
    OpensGuard,
    RaisesLimit,
    RunsCode,
    Words,
)
from cuescope.types import (
    Edit,
    Frame,
    HideTokens,
    Options,
    Outcome,
    Output,
    PlantedCue,
    Readout,
    Response,
    Sample,
    Trial,
)
from cuescope_sdk._data_needs import AnnotationNeed, DataNeeds
from cuescope_sdk._label_items import LabelItem

__all__ = [
    "Accuracy",
    "Address",
    "AnnotationNeed",
    "Audit",
    "BadDataError",
    "CacheFile",
    "Capabilities",
    "Cell",
    "Context",
    "Contrast",
    "DamagedFileError",
    "DataNeeds",
    "Dataset",
    "Detection",
    "Detector",
    "Edit",
    "Embedder",
    "EmbedsText",
    "Evidence",
    "Exhibit",
    "Feature",
    "Frame",
    "HasBenchmark",
    "HasPlantedCues",
    "HasSplits",
    "HideTokens",
    "ImageEdit",
    "ImageEditor",
    "LabelItem",
    "LazyWeights",
    "Ledger",
    "Metric",
    "Model",
    "Names",
    "NeedsAllow",
    "Occurrence",
    "OpensGuard",
    "Options",
    "Outcome",
    "Output",
    "Picture",
    "PlanStopped",
    "PlantedCue",
    "Plugin",
    "PluginError",
    "Portrait",
    "Proposer",
    "RaisesLimit",
    "Readout",
    "Report",
    "Request",
    "Requirements",
    "Response",
    "RunsCode",
    "Sample",
    "Score",
    "Segmenter",
    "SentenceEncoder",
    "Side",
    "StoredRun",
    "Table",
    "Tested",
    "TextGenerator",
    "ToolRole",
    "Trial",
    "UserError",
    "Verdict",
    "Words",
    "derive",
    "digest",
    "generator",
    "hookimpl",
    "how_to_install",
    "inside",
    "nearest",
    "printable",
    "read_sealed",
    "write_sealed",
]
