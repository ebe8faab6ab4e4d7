"""How soon `cuescope view` shows a folder of many runs, and a run of many samples, in Chromium.

    python benchmarks/view_speed.py [RUNS] [SAMPLES]

Each run has its answers and a report of its own. Times are of the browser, from the start of the
navigation; the server begins to read the folder when it is started, as when a person starts it.
"""

import importlib.util
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from types import ModuleType

from playwright.sync_api import Page, sync_playwright

from cuescope_view.runs import RunsFolder
from cuescope_view.server import Api

ROOT = Path(__file__).parents[1]
RUNS = 200
SAMPLES = 20_000
PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
MARK = "performance.getEntriesByName('{}')[0].startTime"


def written_runs() -> ModuleType:
    """What writes the runs of the tests."""
    file = ROOT / "plugins/commands/view/tests/conftest.py"
    spec = importlib.util.spec_from_file_location("written_runs", file)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def say(words: str, seconds: float) -> None:
    """A line of the result."""
    sys.stdout.write(f"{words}: {seconds:.2f} s\n")


def measure_server(home: Path) -> None:
    """What the server does for these views, in seconds of the processor: load does not count."""
    runs = RunsFolder(home)
    clock = time.process_time()
    runs.refresh()
    runs.wait()
    say("processor, to list all runs", time.process_time() - clock)
    api = Api(runs)
    run = next(iter(runs.listed))
    about = {"id": run, "feature": "bird", "side": "with"}
    views = {
        "to open a run": partial(api.show_run, {"id": run}),
        "its samples": partial(api.show_samples, about),
        "other filters": partial(api.show_samples, {**about, "sort": "confidence"}),
    }
    for words, show in views.items():
        clock = time.process_time()
        show()
        say(f"processor, {words}", time.process_time() - clock)


def measure(page: Page, address: str) -> None:
    """The list, then the samples of a cue."""
    page.goto(address)
    page.wait_for_selector("tbody tr")
    say("first paint", page.evaluate(PAINT) / 1000)
    say("first rows of the list", page.evaluate(MARK.format("shown")) / 1000)
    page.wait_for_function(
        "performance.getEntriesByName('whole').length", timeout=120_000
    )
    say("whole list", page.evaluate(MARK.format("whole")) / 1000)
    clock = time.perf_counter()
    page.click("tbody a >> nth=0")
    page.wait_for_selector("h2")
    say("a run, first opened", time.perf_counter() - clock)
    clock = time.perf_counter()
    page.click("td a >> nth=0")
    page.wait_for_selector(".samples tbody tr")
    say("its samples, first opened", time.perf_counter() - clock)
    clock = time.perf_counter()
    page.select_option("select >> nth=2", "cow")
    page.get_by_role("button", name="Confidence").click()
    page.wait_for_selector("th[aria-sort=ascending]:has-text('Confidence')")
    say("filtered and sorted", time.perf_counter() - clock)


def main() -> None:
    """Write the runs, start the command, look at it."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    samples = int(sys.argv[2]) if len(sys.argv) > 2 else SAMPLES
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        first = written_runs().write_run(home / "run-000", "bird", samples=samples)
        for number in range(1, runs):
            shutil.copytree(first, home / f"run-{number:03d}")
        size = (first / "report.json").stat().st_size
        sys.stdout.write(
            f"{runs} runs of {samples:,} samples, reports of {size / 1e6:.1f} MB\n"
        )
        measure_server(home)
        command = [str(Path(sys.executable).with_name("cuescope")), "view", name]
        clock = time.perf_counter()
        server = subprocess.Popen(
            [*command, "--no-browser"], stdout=subprocess.PIPE, text=True
        )
        try:
            line = server.stdout.readline() if server.stdout else ""
            address = re.search(r"http\S+", line)
            say("the command, until it names its address", time.perf_counter() - clock)
            with sync_playwright() as playwright:
                found = shutil.which("chromium") or shutil.which("google-chrome")
                browser = playwright.chromium.launch(
                    executable_path=found, args=["--no-sandbox"]
                )
                measure(browser.new_page(), address[0] if address else "")
                browser.close()
        finally:
            server.send_signal(signal.SIGINT)
            server.wait()


if __name__ == "__main__":
    main()
