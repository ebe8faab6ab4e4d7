"""Contract suites, and fakes with a planted cue, for the tests of a plugin.

    from cuescope_testing import MethodContract

    class TestContract(MethodContract):
        plugin = MyMethod

`run_audit(MyMethod)` is the report of an audit of the fakes.
"""

# each check has a bad plugin in the tests that it catches (docs/architecture.md)
from cuescope_testing._contract import Contract, NotApplicable
from cuescope_testing._dataset_contract import DatasetContract
from cuescope_testing._executor_contract import ExecutorContract, ObserverContract
from cuescope_testing._explainer_contract import ExplainerContract
from cuescope_testing._exporter_contract import ExporterContract
from cuescope_testing._fake_data import FakeDataset
from cuescope_testing._fake_method import FakeMethod
from cuescope_testing._fake_models import FakeModel, FakeReader
from cuescope_testing._fake_tools import (
    FAKE_TOOLS,
    FakeDetector,
    FakeSegmenter,
    FakeTextGenerator,
)
from cuescope_testing._fake_tower import FakeTower
from cuescope_testing._inside_contract import EditContract, ReadoutContract
from cuescope_testing._intervention_contract import InterventionContract
from cuescope_testing._layout_contract import LayoutContract, Mistake
from cuescope_testing._log_contract import LogContract
from cuescope_testing._method_contract import MethodContract
from cuescope_testing._mitigator_contract import MitigatorContract
from cuescope_testing._model_contract import ModelContract
from cuescope_testing._running import PluginShelf, Setup, run_audit, temporary_cache
from cuescope_testing._tool_contract import ToolContract

__all__ = [
    "CONTRACTS",
    "Contract",
    "DatasetContract",
    "EditContract",
    "ExecutorContract",
    "ExplainerContract",
    "ExporterContract",
    "FAKE_TOOLS",
    "FakeDataset",
    "FakeDetector",
    "FakeMethod",
    "FakeModel",
    "FakeReader",
    "FakeSegmenter",
    "FakeTextGenerator",
    "FakeTower",
    "InterventionContract",
    "LayoutContract",
    "LogContract",
    "MethodContract",
    "Mistake",
    "MitigatorContract",
    "ModelContract",
    "NotApplicable",
    "ObserverContract",
    "PluginShelf",
    "ReadoutContract",
    "Setup",
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
        ExplainerContract,
        LogContract,
        ExporterContract,
    )
}
