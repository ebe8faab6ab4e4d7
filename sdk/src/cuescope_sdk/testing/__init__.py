"""Contract suites, and fakes with a planted cue, for the tests of a plugin.

    from cuescope_sdk.testing import MethodContract

    class TestContract(MethodContract):
        plugin = MyMethod

`run_audit(MyMethod)` is the report of an audit of the fakes.
"""

from cuescope_sdk.testing._chat_server import ChatServer, serve_chat
from cuescope_sdk.testing._contract import Contract, Result, checks, results, run_check
from cuescope_sdk.testing._dataset_contract import DatasetContract
from cuescope_sdk.testing._executor_contract import ExecutorContract, ObserverContract
from cuescope_sdk.testing._fake_data import CUE, DECOY, LABELS, FakeDataset
from cuescope_sdk.testing._fake_method import FakeMethod
from cuescope_sdk.testing._fake_models import FakeModel, FakeReader
from cuescope_sdk.testing._fake_tools import (
    FAKE_TOOLS,
    FakeDetector,
    FakeProposer,
    FakeSegmenter,
    FakeSentenceEncoder,
    FakeTextGenerator,
)
from cuescope_sdk.testing._intervention_contract import InterventionContract
from cuescope_sdk.testing._layout_contract import LayoutContract, Mistake
from cuescope_sdk.testing._media_files import (
    ODD_IMAGES,
    STEP,
    OddImage,
    answered_as_seen,
    grey_levels,
    write_image,
    write_video,
)
from cuescope_sdk.testing._method_contract import MethodContract
from cuescope_sdk.testing._mitigator_contract import MitigatorContract
from cuescope_sdk.testing._model_contract import ModelContract
from cuescope_sdk.testing._running import (
    NAME,
    PluginShelf,
    Setup,
    run_audit,
    temporary_cache,
)
from cuescope_sdk.testing._tool_contract import ToolContract

__all__ = [
    "CONTRACTS",
    "CUE",
    "ChatServer",
    "Contract",
    "DECOY",
    "DatasetContract",
    "ExecutorContract",
    "FAKE_TOOLS",
    "FakeDataset",
    "FakeDetector",
    "FakeMethod",
    "FakeModel",
    "FakeProposer",
    "FakeReader",
    "FakeSegmenter",
    "FakeSentenceEncoder",
    "FakeTextGenerator",
    "InterventionContract",
    "LABELS",
    "LayoutContract",
    "MethodContract",
    "Mistake",
    "MitigatorContract",
    "ModelContract",
    "NAME",
    "ODD_IMAGES",
    "ObserverContract",
    "OddImage",
    "PluginShelf",
    "Result",
    "STEP",
    "Setup",
    "ToolContract",
    "answered_as_seen",
    "checks",
    "grey_levels",
    "results",
    "run_audit",
    "run_check",
    "serve_chat",
    "temporary_cache",
    "write_image",
    "write_video",
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
    )
}
