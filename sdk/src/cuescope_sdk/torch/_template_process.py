"""Runs chat templates that come on standard input, each within limits of time and memory.

A script, since it shall import little: `python -P _template_process.py MEMORY`, in bytes. A line is
a request in JSON, and its reply is one: {"said": what it made} or {"fault": why it made nothing}.
"""

import faulthandler
import json
import os
import sys
from pathlib import Path
from typing import Any

from transformers.utils.chat_template_utils import (
    _compile_jinja_template,
    _get_template_variables,
)

LONGEST_PROMPT = 10_000_000  # characters: no model reads as many


def serve(memory: int) -> None:
    """Replies to every line, and ends where a reply takes too long."""
    limit_memory(memory)
    with Path(os.devnull).open("w") as nowhere:
        for line in sys.stdin.buffer:
            request = json.loads(line)
            # ends the process from outside of Python: one step may be one call of C
            faulthandler.dump_traceback_later(
                request.pop("seconds"), exit=True, file=nowhere
            )
            reply = json.dumps(reply_to(**request))
            faulthandler.cancel_dump_traceback_later()
            sys.stdout.write(f"{reply}\n")
            sys.stdout.flush()


def reply_to(template: str, names: dict[str, Any] | None) -> dict[str, Any]:
    """Render a template with names, or where there are none, list the names that it asks for."""
    # a template is a stranger's program, and fails in any way it likes
    try:
        if names is None:
            return {"said": sorted(_get_template_variables(template))}
        prompt = _compile_jinja_template(template).render(**names)
        if len(prompt) > LONGEST_PROMPT:
            return {"fault": f"a prompt of {len(prompt):,} characters"}
        return {"said": prompt}
    except MemoryError:
        return {"fault": "it takes more memory than any honest one"}
    except Exception as error:
        return {"fault": str(error)[:1000] or type(error).__name__}


def limit_memory(memory: int) -> None:
    """No more than so many bytes beside what the process has now; macOS and Windows cannot."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + memory
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    except (ImportError, OSError, ValueError):  # or the limit is lower already
        return


if __name__ == "__main__":
    serve(int(sys.argv[1]))
