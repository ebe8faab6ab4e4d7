"""The one import of a plugin author: the words of cuescope, its hooks, and its Protocols."""

from typing import TYPE_CHECKING

from cuescope.lazy import attach

if TYPE_CHECKING:
    from cuescope.auditing import Audit as Audit
    from cuescope.capabilities import (
        Capabilities as Capabilities,
        Dataset as Dataset,
        Detection as Detection,
        Detector as Detector,
        Embedder as Embedder,
        EmbedsText as EmbedsText,
        HasBenchmark as HasBenchmark,
        HasPlantedCues as HasPlantedCues,
        HasSplits as HasSplits,
        ImageEdit as ImageEdit,
        ImageEditor as ImageEditor,
        LazyWeights as LazyWeights,
        Model as Model,
        Proposer as Proposer,
        Requirements as Requirements,
        Segmenter as Segmenter,
        SentenceEncoder as SentenceEncoder,
        TextGenerator as TextGenerator,
        ToolRole as ToolRole,
    )
    from cuescope.conclusions import (
        Accuracy as Accuracy,
        Cell as Cell,
        Contrast as Contrast,
        Evidence as Evidence,
        Exhibit as Exhibit,
        Feature as Feature,
        Finding as Finding,
        Impact as Impact,
        Metric as Metric,
        Occurrence as Occurrence,
        Picture as Picture,
        Portrait as Portrait,
        Report as Report,
        Row as Row,
        Score as Score,
        Side as Side,
        Status as Status,
        Table as Table,
        Verdict as Verdict,
    )
    from cuescope.context import Context as Context
    from cuescope.digest import digest as digest
    from cuescope.errors import (
        BadDataError as BadDataError,
        PlanStopped as PlanStopped,
        PluginError as PluginError,
        UserError as UserError,
        nearest as nearest,
    )
    from cuescope.hookspecs import hookimpl as hookimpl
    from cuescope.installing import how_to_install as how_to_install
    from cuescope.ledger import Ledger as Ledger
    from cuescope.plugin import Plugin as Plugin
    from cuescope.printable import printable as printable
    from cuescope.request import Request as Request
    from cuescope.sealed import (
        DamagedFileError as DamagedFileError,
        read_sealed as read_sealed,
        write_sealed as write_sealed,
    )
    from cuescope.seeds import derive as derive, generator as generator
    from cuescope.store import CacheFile as CacheFile
    from cuescope.stored_run import StoredRun as StoredRun
    from cuescope.tested import Tested as Tested
    from cuescope.trust.addresses import Address as Address
    from cuescope.trust.paths import inside as inside
    from cuescope.trust.risks import (
        Names as Names,
        NeedsAllow as NeedsAllow,
        OpensGuard as OpensGuard,
        RaisesLimit as RaisesLimit,
        RunsCode as RunsCode,
        Words as Words,
    )
    from cuescope.types import (
        Edit as Edit,
        Frame as Frame,
        HideTokens as HideTokens,
        Options as Options,
        Outcome as Outcome,
        Output as Output,
        PlantedCue as PlantedCue,
        Readout as Readout,
        Response as Response,
        Sample as Sample,
        Trial as Trial,
    )
    from cuescope_sdk._data_needs import (
        AnnotationNeed as AnnotationNeed,
        DataNeeds as DataNeeds,
    )
    from cuescope_sdk._label_items import LabelItem as LabelItem

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "cuescope.auditing": ["Audit"],
        "cuescope.capabilities": [
            "Capabilities",
            "Dataset",
            "Detection",
            "Detector",
            "Embedder",
            "EmbedsText",
            "HasBenchmark",
            "HasPlantedCues",
            "HasSplits",
            "ImageEdit",
            "ImageEditor",
            "LazyWeights",
            "Model",
            "Proposer",
            "Requirements",
            "Segmenter",
            "SentenceEncoder",
            "TextGenerator",
            "ToolRole",
        ],
        "cuescope.conclusions": [
            "Accuracy",
            "Cell",
            "Contrast",
            "Evidence",
            "Exhibit",
            "Feature",
            "Finding",
            "Impact",
            "Metric",
            "Occurrence",
            "Picture",
            "Portrait",
            "Report",
            "Row",
            "Score",
            "Side",
            "Status",
            "Table",
            "Verdict",
        ],
        "cuescope.context": ["Context"],
        "cuescope.digest": ["digest"],
        "cuescope.errors": [
            "BadDataError",
            "PlanStopped",
            "PluginError",
            "UserError",
            "nearest",
        ],
        "cuescope.hookspecs": ["hookimpl"],
        "cuescope.installing": ["how_to_install"],
        "cuescope.ledger": ["Ledger"],
        "cuescope.plugin": ["Plugin"],
        "cuescope.printable": ["printable"],
        "cuescope.request": ["Request"],
        "cuescope.sealed": ["DamagedFileError", "read_sealed", "write_sealed"],
        "cuescope.seeds": ["derive", "generator"],
        "cuescope.store": ["CacheFile"],
        "cuescope.stored_run": ["StoredRun"],
        "cuescope.tested": ["Tested"],
        "cuescope.trust.addresses": ["Address"],
        "cuescope.trust.paths": ["inside"],
        "cuescope.trust.risks": [
            "Names",
            "NeedsAllow",
            "OpensGuard",
            "RaisesLimit",
            "RunsCode",
            "Words",
        ],
        "cuescope.types": [
            "Edit",
            "Frame",
            "HideTokens",
            "Options",
            "Outcome",
            "Output",
            "PlantedCue",
            "Readout",
            "Response",
            "Sample",
            "Trial",
        ],
        "._data_needs": ["AnnotationNeed", "DataNeeds"],
        "._label_items": ["LabelItem"],
    },
)
