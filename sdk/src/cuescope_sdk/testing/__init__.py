"""Contract suites, and fakes with a planted cue, for the tests of a plugin.

    from cuescope_sdk.testing import MethodContract

    class TestContract(MethodContract):
        plugin = MyMethod

`run_audit(MyMethod)` is the report of an audit of the fakes.
"""

# each check has a bad plugin in the tests that it catches (CONTRIBUTING.md)
from cuescope_sdk.testing._chat_server import ChatServer
from cuescope_sdk.testing._contract import Contract, NotApplicable
from cuescope_sdk.testing._dataset_contract import DatasetContract
from cuescope_sdk.testing._executor_contract import ExecutorContract, ObserverContract
from cuescope_sdk.testing._exporter_contract import ExporterContract
from cuescope_sdk.testing._fake_biases import FakeFirst, FakePolite, FakeQuestions
from cuescope_sdk.testing._fake_data import FakeDataset
from cuescope_sdk.testing._fake_method import FakeMethod
from cuescope_sdk.testing._fake_models import FakeModel, FakeReader
from cuescope_sdk.testing._fake_tools import (
    FAKE_TOOLS,
    FakeDetector,
    FakeSegmenter,
    FakeTextGenerator,
)
from cuescope_sdk.testing._fake_tower import FakeTower
from cuescope_sdk.testing._inside_contract import EditContract, ReadoutContract
from cuescope_sdk.testing._intervention_contract import InterventionContract
from cuescope_sdk.testing._layout_contract import LayoutContract, Mistake
from cuescope_sdk.testing._log_contract import LogContract
from cuescope_sdk.testing._media_files import MediaFile, OddImage
from cuescope_sdk.testing._method_contract import MethodContract
from cuescope_sdk.testing._mitigator_contract import MitigatorContract
from cuescope_sdk.testing._model_contract import ModelContract
from cuescope_sdk.testing._running import PluginShelf, Setup, run_audit, temporary_cache
from cuescope_sdk.testing._tell_contract import TellContract
from cuescope_sdk.testing._tool_contract import ToolContract

__all__ = [
    "CONTRACTS",
    "ChatServer",
    "Contract",
    "DatasetContract",
    "EditContract",
    "ExecutorContract",
    "ExporterContract",
    "FAKE_TOOLS",
    "FakeDataset",
    "FakeDetector",
    "FakeFirst",
    "FakeMethod",
    "FakeModel",
    "FakePolite",
    "FakeQuestions",
    "FakeReader",
    "FakeSegmenter",
    "FakeTextGenerator",
    "FakeTower",
    "InterventionContract",
    "LayoutContract",
    "LogContract",
    "MediaFile",
    "MethodContract",
    "Mistake",
    "MitigatorContract",
    "ModelContract",
    "NotApplicable",
    "ObserverContract",
    "OddImage",
    "PluginShelf",
    "ReadoutContract",
    "Setup",
    "TellContract",
    "ToolContract",
    "run_audit",
    "temporary_cache",
]

CONTRACTS: dict[str, type[Contract]] = {
    contract.kind: contract
    for contract in (
        MethodContract,
        ModelContract,
        DatasetContract,
        ToolContract,
        ExecutorContract,
        ObserverContract,
        MitigatorContract,
        InterventionContract,
        TellContract,
        LogContract,
        ExporterContract,
    )
}
