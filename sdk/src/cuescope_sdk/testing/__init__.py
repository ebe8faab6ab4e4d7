"""Contract suites, and fakes with a planted cue, for the tests of a plugin.

    from cuescope_sdk.testing import MethodContract

    class TestContract(MethodContract):
        plugin = MyMethod

`running(MyMethod)` is the report of an audit of the fakes.
"""

from cuescope_sdk.testing.contract import Contract, Result, checks, results, run_check
from cuescope_sdk.testing.dataset_contract import DatasetContract
from cuescope_sdk.testing.fake_data import CUE, DECOY, FakeDataset, points_at
from cuescope_sdk.testing.fake_fusion import FakeFusionModel
from cuescope_sdk.testing.fake_method import FakeMethod
from cuescope_sdk.testing.fake_model import FakeModel
from cuescope_sdk.testing.fake_tools import (
    FAKE_TOOLS,
    FakeClaimVerifier,
    FakeDetector,
    FakeImageEditor,
    FakeProposer,
    FakeSegmenter,
    FakeSentenceEncoder,
    FakeTextGenerator,
)
from cuescope_sdk.testing.layout_contract import LayoutContract, Mistake
from cuescope_sdk.testing.method_contract import MethodContract
from cuescope_sdk.testing.model_contract import ModelContract
from cuescope_sdk.testing.running import Setup, remembering, running
from cuescope_sdk.testing.shelf import PluginShelf
from cuescope_sdk.testing.tool_contract import ToolContract
from cuescope_sdk.testing.violation import ContractViolation, NotApplicable, expect

CONTRACTS: dict[str, type[Contract]] = {
    contract.kind: contract
    for contract in (MethodContract, ModelContract, DatasetContract, ToolContract)
}

__all__ = [
    # the suites
    "MethodContract", "ModelContract", "DatasetContract", "ToolContract", "CONTRACTS",
    "LayoutContract", "Mistake", "Contract", "Result", "checks", "results", "run_check",
    "ContractViolation", "NotApplicable", "expect",
    # the fakes
    "FakeDataset", "FakeModel", "FakeMethod", "CUE", "DECOY", "points_at", "FAKE_TOOLS",
    "FakeFusionModel", "FakeDetector",
    "FakeSegmenter", "FakeTextGenerator", "FakeSentenceEncoder", "FakeImageEditor", "FakeProposer",
    "FakeClaimVerifier",
    # audits of what is not installed
    "running", "Setup", "remembering", "PluginShelf",
]  # fmt: skip
