"""What every test of the workspace runs under."""

import gc
import os
from collections.abc import Generator

import pytest
from hypothesis import settings
from PIL import Image

pytest_plugins = ["shape_checks"]


def is_whole(config: pytest.Config) -> bool:
    """Whether the long tests run too."""
    return "not long" not in config.getoption("markexpr")


def pytest_configure(config: pytest.Config) -> None:
    """A slow machine fails no test, and a run can be repeated; `make faults` draws new examples.

    With the long tests there are as many examples as hypothesis draws by itself.
    """
    settings.register_profile(
        "house",
        deadline=None,
        derandomize=not os.environ.get("CUESCOPE_FAULTS"),
        max_examples=100 if is_whole(config) else 30,
    )
    settings.load_profile("house")


# Many audits of each method; the methods' own tests have nulls of fewer draws, and so have the
# proofs of the contract.
LONG_CHECKS = {
    "test_finds_nothing_where_there_is_nothing": "",
    # a Ray starts for each; `processes` holds them in seconds
    "test_can_be_left_early": "plugins/executors/ray",
    "test_goes_on_where_a_worker_is_killed": "plugins/executors/ray",
    "test_leaves_global_randomness_alone": "plugins/executors/ray",
    "test_names_a_batch_that_kills_workers": "plugins/executors/ray",
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks checks of the contract suites that take long, where a plugin of ours inherits them."""
    for item in items:
        folder = LONG_CHECKS.get(item.name)
        # an empty folder stands for all
        if folder is not None and item.nodeid.startswith(folder):
            item.add_marker(pytest.mark.long)


# What costs much in audits and few files of tests look at: what stands there in all others.
SPARED = (
    # dots an inch of the charts in reports
    ({"test_figures.py"}, "cuescope_sdk.report._figures.DENSITY", 40),
)
# And outside of `make test-all`: the drawing of charts, and where the cue of a finding is, which
# takes longer than all else of an audit on fakes.
SPARED_AT_FIRST = (
    (
        {"test_figures.py", "test_simulation.py"},
        "cuescope_sdk.report._figures._render",
        lambda figure: Image.new("RGB", (8, 8)),
    ),
    (
        {
            "test_command_example.py",
            "test_command_investigate.py",
            "test_sights.py",
            "test_locating.py",
        },
        "cuescope_sdk.locating._portraits.look_at",
        lambda *args, **kwargs: None,
    ),
)


@pytest.fixture(autouse=True, scope="module")
def spared(request: pytest.FixtureRequest) -> Generator[None]:
    """Audits leave out what is costly and not looked at."""
    spared = SPARED if is_whole(request.config) else (*SPARED, *SPARED_AT_FIRST)
    with pytest.MonkeyPatch.context() as patch:
        for tested_in, name, instead in spared:
            if request.node.path.name not in tested_in:
                patch.setattr(name, instead)
        yield


@pytest.fixture(autouse=True, scope="session")
def own_runs(tmp_path_factory: pytest.TempPathFactory) -> Generator[None]:
    """Runs of tests are noted in a folder of their own, and not in that of the user."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUESCOPE_OWN_RUNS", str(tmp_path_factory.mktemp("own-runs")))
        yield


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Twelve thousand tests and torch stay until the end: looking for garbage among them takes
    half of the time of collecting."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        # seldom: what is left over by thousands of audits is hardly ever in a circle
        gc.set_threshold(20_000, 20, 50)
