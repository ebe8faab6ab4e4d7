"""The one import of a plugin author: the words of cuescope, its hooks, and its Protocols."""

from typing import TYPE_CHECKING

from cuescope_core.lazy import attach

if TYPE_CHECKING:
    from cuescope_core.auditing import Audit as Audit
    from cuescope_core.capabilities import (
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
        TakesResults as TakesResults,
        TextGenerator as TextGenerator,
        ToolRole as ToolRole,
    )
    from cuescope_core.checksummed_files import (
        DamagedFileError as DamagedFileError,
        read_sealed as read_sealed,
        write_sealed as write_sealed,
    )
    from cuescope_core.conclusions import (
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
        Report as Report,
        Row as Row,
        Score as Score,
        Side as Side,
        Status as Status,
        Table as Table,
        Verdict as Verdict,
    )
    from cuescope_core.context import Context as Context
    from cuescope_core.digest import digest as digest
    from cuescope_core.errors import (
        BadDataError as BadDataError,
        PlanStopped as PlanStopped,
        PluginError as PluginError,
        UserError as UserError,
        nearest as nearest,
    )
    from cuescope_core.hookspecs import hookimpl as hookimpl
    from cuescope_core.ledger import Ledger as Ledger
    from cuescope_core.plugin import Plugin as Plugin
    from cuescope_core.printable import printable as printable
    from cuescope_core.remedies import how_to_install as how_to_install
    from cuescope_core.request import Request as Request
    from cuescope_core.run_under_test import Tested as Tested
    from cuescope_core.seeds import derive as derive, generator as generator
    from cuescope_core.store import CacheFile as CacheFile
    from cuescope_core.stored_run import StoredRun as StoredRun
    from cuescope_core.trust.addresses import Address as Address
    from cuescope_core.trust.paths import inside as inside
    from cuescope_core.trust.risks import (
        Names as Names,
        NeedsAllow as NeedsAllow,
        OpensGuard as OpensGuard,
        RaisesLimit as RaisesLimit,
        RunsCode as RunsCode,
        Words as Words,
    )
    from cuescope_core.types import (
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
    from cuescope_sdk._shared_options import (
        DrawnOptions as DrawnOptions,
        FindingOptions as FindingOptions,
        LevelOptions as LevelOptions,
    )

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "cuescope_core.auditing": ["Audit"],
        "cuescope_core.capabilities": [
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
            "TakesResults",
            "TextGenerator",
            "ToolRole",
        ],
        "cuescope_core.conclusions": [
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
            "Report",
            "Row",
            "Score",
            "Side",
            "Status",
            "Table",
            "Verdict",
        ],
        "cuescope_core.context": ["Context"],
        "cuescope_core.digest": ["digest"],
        "cuescope_core.errors": [
            "BadDataError",
            "PlanStopped",
            "PluginError",
            "UserError",
            "nearest",
        ],
        "cuescope_core.hookspecs": ["hookimpl"],
        "cuescope_core.remedies": ["how_to_install"],
        "cuescope_core.ledger": ["Ledger"],
        "cuescope_core.plugin": ["Plugin"],
        "cuescope_core.printable": ["printable"],
        "cuescope_core.request": ["Request"],
        "cuescope_core.checksummed_files": [
            "DamagedFileError",
            "read_sealed",
            "write_sealed",
        ],
        "cuescope_core.seeds": ["derive", "generator"],
        "cuescope_core.store": ["CacheFile"],
        "cuescope_core.stored_run": ["StoredRun"],
        "cuescope_core.run_under_test": ["Tested"],
        "cuescope_core.trust.addresses": ["Address"],
        "cuescope_core.trust.paths": ["inside"],
        "cuescope_core.trust.risks": [
            "Names",
            "NeedsAllow",
            "OpensGuard",
            "RaisesLimit",
            "RunsCode",
            "Words",
        ],
        "cuescope_core.types": [
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
        "._shared_options": ["DrawnOptions", "FindingOptions", "LevelOptions"],
    },
)
