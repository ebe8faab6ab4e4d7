"""Where a stock model's files are looked for, and where a plan ends."""

import huggingface_hub
import pytest

from cuescope.errors import PlanStopped
from cuescope_sdk import Context, UserError
from cuescope_sdk.torch import Source


@pytest.fixture
def nothing_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        huggingface_hub, "try_to_load_from_cache", lambda *args, **options: None
    )
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.mark.usefixtures("nothing_cached")
def test_a_plan_ends_before_a_download() -> None:
    with pytest.raises(
        PlanStopped, match=r"the weights of some/model@v1, which must be download"
    ):
        Source.find("mine", "some/model", "v1", Context(planning=True))


@pytest.mark.usefixtures("nothing_cached")
def test_an_audit_goes_on_to_the_hub() -> None:
    with pytest.raises(UserError, match=r"mine: some/model is not on this machine"):
        Source.find("mine", "some/model", None, Context())
