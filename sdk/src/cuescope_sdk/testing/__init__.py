"""Contract suites, and fakes with a planted cue, for the tests of a plugin.

    from cuescope_sdk.testing import MethodContract

    class TestContract(MethodContract):
        plugin = MyMethod

`run_audit(MyMethod)` is the report of an audit of the fakes.
"""

from cuescope_sdk.testing._chat_server import ChatServer, prompt_of, serve_chat
from cuescope_sdk.testing._contract import (
    HEAVY,
    Contract,
    ContractViolation,
    NotApplicable,
    checks,
    expect,
    results,
    run_check,
)
from cuescope_sdk.testing._dataset_contract import DatasetContract
from cuescope_sdk.testing._fake_data import CUE, DECOY, LABELS, FakeDataset, points_at
from cuescope_sdk.testing._fake_method import FakeMethod, FakeRelianceMethod
from cuescope_sdk.testing._fake_models import FakeModel
from cuescope_sdk.testing._fake_tools import (
    FAKE_TOOLS,
    FakeClaimVerifier,
    FakeDetector,
    FakeImageEditor,
    FakeProposer,
    FakeSegmenter,
    FakeSentenceEncoder,
    FakeTextGenerator,
    action,
    attribute,
    entity,
    motion,
    order,
    relation,
    says,
)
from cuescope_sdk.testing._layout_contract import LayoutContract, Mistake
from cuescope_sdk.testing._media_files import (
    ODD_IMAGES,
    STEP,
    OddImage,
    answered_as_seen,
    grey_levels,
    write_image,
    write_mask,
    write_video,
)
from cuescope_sdk.testing._method_contract import MethodContract
from cuescope_sdk.testing._model_contract import ModelContract
from cuescope_sdk.testing._running import NAME, PluginShelf, Setup, run_audit, temporary_cache
from cuescope_sdk.testing._tool_contract import ToolContract

CONTRACTS: dict[str, type[Contract]] = {
    contract.kind: contract
    for contract in (MethodContract, ModelContract, DatasetContract, ToolContract)
}

__all__ = [
    # the suites
    "MethodContract",
    "ModelContract",
    "DatasetContract",
    "ToolContract",
    "CONTRACTS",
    "LayoutContract",
    "Mistake",
    "Contract",
    "checks",
    "results",
    "run_check",
    "ContractViolation",
    "NotApplicable",
    "expect",
    # the fakes
    "FakeDataset",
    "FakeModel",
    "FakeMethod",
    "FakeRelianceMethod",
    "CUE",
    "DECOY",
    "points_at",
    "FAKE_TOOLS",
    "FakeDetector",
    "FakeSegmenter",
    "FakeTextGenerator",
    "FakeSentenceEncoder",
    "FakeImageEditor",
    "FakeProposer",
    "FakeClaimVerifier",
    # audits of what is not installed
    "run_audit",
    "Setup",
    "temporary_cache",
    "PluginShelf",
    "NAME",
    "LABELS",
    # files, servers and claims for tests
    "ChatServer",
    "prompt_of",
    "serve_chat",
    "action",
    "attribute",
    "entity",
    "motion",
    "order",
    "relation",
    "says",
    "write_image",
    "write_mask",
    "HEAVY",
    "ODD_IMAGES",
    "OddImage",
    "answered_as_seen",
    "STEP",
    "grey_levels",
    "write_video",
]
