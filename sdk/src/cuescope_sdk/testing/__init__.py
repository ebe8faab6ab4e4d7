"""Contract suites, and fakes with a planted cue, for the tests of a plugin.

    from cuescope_sdk.testing import MethodContract

    class TestContract(MethodContract):
        plugin = MyMethod

`run_audit(MyMethod)` is the report of an audit of the fakes.
"""

from cuescope_sdk.testing._chat_server import (
    ChatServer as ChatServer,
    prompt_of as prompt_of,
    serve_chat as serve_chat,
)
from cuescope_sdk.testing._contract import (
    HEAVY as HEAVY,
    Contract as Contract,
    ContractViolation as ContractViolation,
    NotApplicable as NotApplicable,
    checks as checks,
    expect as expect,
    results as results,
    run_check as run_check,
)
from cuescope_sdk.testing._dataset_contract import DatasetContract as DatasetContract
from cuescope_sdk.testing._executor_contract import (
    ExecutorContract as ExecutorContract,
    ObserverContract as ObserverContract,
)
from cuescope_sdk.testing._fake_data import (
    CUE as CUE,
    DECOY as DECOY,
    LABELS as LABELS,
    FakeDataset as FakeDataset,
    points_at as points_at,
)
from cuescope_sdk.testing._fake_method import (
    FakeMethod as FakeMethod,
    FakeRelianceMethod as FakeRelianceMethod,
)
from cuescope_sdk.testing._fake_models import FakeModel as FakeModel, FakeReader as FakeReader
from cuescope_sdk.testing._fake_tools import (
    FAKE_TOOLS as FAKE_TOOLS,
    FakeClaimVerifier as FakeClaimVerifier,
    FakeDetector as FakeDetector,
    FakeImageEditor as FakeImageEditor,
    FakeNamer as FakeNamer,
    FakeProposer as FakeProposer,
    FakeSegmenter as FakeSegmenter,
    FakeSentenceEncoder as FakeSentenceEncoder,
    FakeTextGenerator as FakeTextGenerator,
    action as action,
    attribute as attribute,
    entity as entity,
    motion as motion,
    order as order,
    relation as relation,
    says as says,
)
from cuescope_sdk.testing._intervention_contract import InterventionContract as InterventionContract
from cuescope_sdk.testing._layout_contract import (
    LayoutContract as LayoutContract,
    Mistake as Mistake,
)
from cuescope_sdk.testing._media_files import (
    ODD_IMAGES as ODD_IMAGES,
    STEP as STEP,
    OddImage as OddImage,
    answered_as_seen as answered_as_seen,
    grey_levels as grey_levels,
    write_image as write_image,
    write_mask as write_mask,
    write_video as write_video,
)
from cuescope_sdk.testing._method_contract import MethodContract as MethodContract
from cuescope_sdk.testing._mitigator_contract import MitigatorContract as MitigatorContract
from cuescope_sdk.testing._model_contract import ModelContract as ModelContract
from cuescope_sdk.testing._running import (
    NAME as NAME,
    PluginShelf as PluginShelf,
    Setup as Setup,
    run_audit as run_audit,
    temporary_cache as temporary_cache,
)
from cuescope_sdk.testing._tool_contract import ToolContract as ToolContract

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
