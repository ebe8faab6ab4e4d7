"""The one import of a plugin author: the words of cuescope, its hooks, and its Protocols."""

from cuescope.affected import open_data as open_data, open_samples as open_samples
from cuescope.answers import read_answers as read_answers
from cuescope.auditing import Audit as Audit
from cuescope.capabilities import (
    ROLES as ROLES,
    Bench as Bench,
    Capabilities as Capabilities,
    Dataset as Dataset,
    Detection as Detection,
    Detector as Detector,
    EmbedsChoices as EmbedsChoices,
    EmbedsText as EmbedsText,
    Executor as Executor,
    HasBenchmark as HasBenchmark,
    HasGroups as HasGroups,
    HasPatches as HasPatches,
    HasPlantedCues as HasPlantedCues,
    HasSplits as HasSplits,
    ImageEdit as ImageEdit,
    ImageEditor as ImageEditor,
    LazyWeights as LazyWeights,
    Method as Method,
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
    Metric as Metric,
    Occurrence as Occurrence,
    Picture as Picture,
    Report as Report,
    Score as Score,
    Side as Side,
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
from cuescope.objects import TakesObjects as TakesObjects
from cuescope.plugin import Plugin as Plugin
from cuescope.printable import printable as printable
from cuescope.request import Request as Request
from cuescope.runs import load_report as load_report
from cuescope.sealed import (
    DamagedFileError as DamagedFileError,
    read_sealed as read_sealed,
    write_sealed as write_sealed,
)
from cuescope.seeds import derive as derive, generator as generator
from cuescope.store import CacheFile as CacheFile
from cuescope.trust.paths import inside as inside
from cuescope.trust.risks import (
    NamesFile as NamesFile,
    NamesHost as NamesHost,
    NamesPart as NamesPart,
    NamesPattern as NamesPattern,
    NamesPlugin as NamesPlugin,
    NamesRepository as NamesRepository,
    NamesSecret as NamesSecret,
    OpensGuard as OpensGuard,
    RaisesLimit as RaisesLimit,
    RunsCode as RunsCode,
    Words as Words,
)
from cuescope.types import (
    Edit as Edit,
    Frame as Frame,
    FrameSource as FrameSource,
    HideTokens as HideTokens,
    Options as Options,
    Outcome as Outcome,
    Output as Output,
    PlantedCue as PlantedCue,
    Readout as Readout,
    Response as Response,
    Sample as Sample,
    Trial as Trial,
    Value as Value,
)
from cuescope_sdk._data_needs import AnnotationNeed as AnnotationNeed, DataNeeds as DataNeeds
from cuescope_sdk._label_items import LabelItem as LabelItem, StoredRun as StoredRun
