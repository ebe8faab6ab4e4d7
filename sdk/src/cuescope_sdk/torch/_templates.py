"""Chat templates of strangers: each is a program, and runs in a process that has limits.

In this one nothing could end a single step (`'a' * 10**10`, `10 ** 10**9`), and a limit of its
memory would be one of all that its other threads do.
"""

import atexit
import json
import os
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from threading import Lock
from time import monotonic
from typing import Any

from cuescope_core.errors import UserError
from cuescope_sdk.torch._strangers import fault_of

LONGEST_TEMPLATE = 30.0  # seconds: an honest one takes a thousandth of one
MOST_MEMORY = 2**30  # bytes
SCRIPT = Path(__file__).with_name("_template_process.py")


class _TemplateError(Exception):
    """A template fails, or goes beyond a limit."""


def render_chat(
    owner: str,
    renderer: Any,
    chat: Sequence[Mapping[str, Any]],
    remedy: str | None = None,
    **options: Any,
) -> str:
    """A chat up to the answer, in the template of a tokenizer or processor.

    Raises UserError where the template refuses it, fails, does not end or takes too much memory.
    """
    try:
        confine_templates()
        prompt = renderer.apply_chat_template(
            chat, add_generation_prompt=True, tokenize=False, **options
        )
    except Exception as error:
        raise UserError(
            f"{owner}: the model's chat template refuses the prompt",
            got=fault_of(error),
            remedy=remedy,
        ) from error
    return str(prompt)


@cache
def confine_templates() -> None:
    """From now on transformers runs no chat template in this process, but in one with limits."""
    from transformers.utils import chat_template_utils

    # of no template: what is constant in one is worked out as soon as it is compiled
    parse = chat_template_utils._compile_jinja_template("").environment.parse
    process = _Process()

    class Environment:
        """Environment that transformers asks for the names in a template."""

        def parse(self, template: str) -> Any:
            names = process.ask(template, None)
            return parse("".join(f"{{{{ {name} }}}}" for name in names))

    class Template:
        """Template that transformers takes for a compiled one."""

        environment = Environment()

        def __init__(self, text: str) -> None:
            self.text = text

        def render(self, **names: Any) -> str:
            return str(process.ask(self.text, names))

    vars(chat_template_utils)["_compile_jinja_template"] = Template


class _Process:
    """The process that runs templates, begun where there is none."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._running: Popen[bytes] | None = None
        self._owner = 0
        atexit.register(self._end)

    def ask(self, template: str, names: Mapping[str, Any] | None) -> Any:
        """Ask it about a template. Raises _TemplateError."""
        request = {"template": template, "names": names, "seconds": LONGEST_TEMPLATE}
        with self._lock:
            line = self._reply(json.dumps(request).encode() + b"\n")
        reply = json.loads(line)
        if "fault" in reply:
            raise _TemplateError(reply["fault"])
        return reply["said"]

    def _reply(self, request: bytes) -> bytes:
        process = self._begun()
        assert process.stdin is not None
        assert process.stdout is not None
        began = monotonic()
        try:
            process.stdin.write(request)
            process.stdin.flush()
            reply = process.stdout.readline()
        except BaseException:
            self._end()  # the next request shall not read the reply to this one
            raise
        if not reply:
            self._end()
            slow = monotonic() - began >= LONGEST_TEMPLATE
            raise _TemplateError(
                f"no end within {LONGEST_TEMPLATE:g} s"
                if slow
                else f"its process ended ({process.returncode})"
            )
        return reply

    def _begun(self) -> Popen[bytes]:
        # a fork of this process must not share its pipes
        is_mine = self._owner == os.getpid()
        if not is_mine or self._running is None or self._running.poll() is not None:
            self._running = Popen(
                [sys.executable, "-P", SCRIPT, str(MOST_MEMORY)],
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
            )
            self._owner = os.getpid()
        return self._running

    def _end(self) -> None:
        if self._running is None or self._owner != os.getpid():
            return
        process, self._running = self._running, None
        process.kill()
        # closes the pipes, and waits
        process.communicate()
