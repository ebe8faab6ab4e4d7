"""Ten minutes of what strangers could send, drawn at random: no code, no connection, no hang."""

import json
import os
import random
import sqlite3
import sys
import time
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from shutil import copytree, rmtree
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from arrivals import SECRET, SERVER, Bait

from cuescope.cli import main
from cuescope_core.digest import digest

if TYPE_CHECKING:
    from .conftest import Tries

AUDIT = (
    "audit step-grounding --model scripted -O model.grounding=0.6 "
    "--data shape-world -O data.val=6"
)
LONGEST = 60.0  # seconds of one command
SECONDS = 600.0 if os.environ.get("CUESCOPE_FAULTS") else 2.0


def words(bait: Bait) -> list[Any]:
    """What is put in the place of any value."""
    return [
        *(
            str(bait.folder / name)
            for name in ("secret.txt", "model", "photos/cat/a.png")
        ),
        *(
            "../../../../etc/passwd",
            "~/.ssh/id_rsa",
            "/dev/zero",
            "/proc/self/environ",
            "file:///etc/passwd",
        ),
        *(
            f"{SERVER}/x",
            f"reference://x.png::{SERVER}/refs.json",
            "s3://bucket/key",
            "hf://datasets/a/b",
        ),
        *(
            "openai:gpt-4o",
            "transformers:evil/model",
            f"folder:{bait.folder / 'photos'}",
            "toy",
            "scripted",
        ),
        *(
            "https://evil.example/v1",
            SECRET,
            "GEMINI_API_KEY",
            True,
            False,
            None,
            -1,
            10**400,
            1e308,
        ),
        *(
            "\x1b]0;pwned\x07",
            "a" * 100_000,
            "'; touch pwned; '",
            '"',
            "(a+)+$",
            "{{7*7}}",
            "\udcff",
            "",
        ),
        *(
            [],
            {},
            [[[[]]]],
            {"trust_remote_code": True},
            {"base_url": SERVER, "key_env": SECRET, "insecure": True},
        ),
    ]


def mutate(value: Any, rng: random.Random, pool: list[Any]) -> Any:
    """A JSON value with one part of it changed."""
    if isinstance(value, dict) and value and rng.random() < 0.95:
        key = rng.choice(sorted(value))
        if rng.random() < 0.05:
            return {name: inner for name, inner in value.items() if name != key}
        if rng.random() < 0.05:
            return {
                **value,
                str(
                    rng.choice(["trust_remote_code", "base_url", "path", "x"])
                ): rng.choice(pool),
            }
        return {**value, key: mutate(value[key], rng, pool)}
    if isinstance(value, list) and value and rng.random() < 0.9:
        place = rng.randrange(len(value))
        return [*value[:place], mutate(value[place], rng, pool), *value[place + 1 :]]
    if rng.random() < 0.02:
        return json.loads("[" * 900 + "]" * 900)
    return rng.choice(pool)


def dumped(content: Any) -> str:
    return json.dumps(content).replace("Infinity", "1")


def fuzzed_run(
    made: Path, home: Path, rng: random.Random, pool: list[Any]
) -> list[str]:
    """A mailed run with up to eight changes, and a command on it."""
    run = home / "mail"
    copytree(made, run)
    file = run / "report.json"
    content = json.loads(file.read_text())
    for _ in range(rng.randrange(1, 8)):
        part = rng.choice(
            ["provenance", "provenance", "features", "scores", "notes", "files"]
        )
        content[part] = mutate(content[part], rng, pool)
    content["seal"] = None
    if rng.random() < 0.7:
        with suppress(UnicodeEncodeError):  # half a character has no digest
            whole = {**json.loads(dumped(content)), "seal": None, "signature": None}
            content["seal"] = digest("cuescope report", whole)
    file.write_text(dumped(content))
    if rng.random() < 0.3:
        _damage(rng.choice([path for path in run.rglob("*") if path.is_file()]), rng)
    typed = [
        "--model",
        "scripted",
        "-O",
        "model.grounding=0.6",
        "--data",
        "shape-world",
        "-O",
        "data.val=6",
    ]
    line = {
        "confirm": ["confirm", str(run), "--plan", "--out", str(home / "out")],
        "typed": ["confirm", str(run), "--plan", "--out", str(home / "out"), *typed],
        "mitigate": [
            "mitigate",
            str(run),
            "--with",
            "prompts",
            "--plan",
            "--out",
            str(home / "out"),
            *typed,
        ],
        "label": ["label", str(run), "--out", str(home / "out")],
        "show": ["show", str(run), "--html", str(home / "page.html")],
        "report": ["show", str(run)],
        "export": [
            "export",
            str(run),
            "--affected",
            "1",
            "--out",
            str(home / "a.jsonl"),
        ],
        "table": [
            "export",
            str(run),
            "--what",
            "answers",
            "--out",
            str(home / "a.csv"),
        ],
        "compare": ["compare", str(made), str(run), "--html", str(home / "c.html")],
        "open": ["open", str(run)],
        "runs": ["runs", str(home)],
    }
    return line[rng.choice(sorted(line))]


def _damage(file: Path, rng: random.Random) -> None:
    data = bytearray(file.read_bytes())
    for _ in range(rng.randrange(1, 5)):
        if data:
            data[rng.randrange(len(data))] = rng.randrange(256)
    file.write_bytes(bytes(data))


def fuzzed_run_file(
    made: Path, home: Path, rng: random.Random, pool: list[Any]
) -> list[str]:
    """A run file with some changes; nothing in it is left to run for long."""
    content: Any = {
        "methods": [{"use": "step-grounding", "options": {"steps": "3"}}],
        "models": [{"use": "scripted", "options": {"grounding": 0.6}}],
        "data": [{"use": "shape-world", "options": {"val": 2}}],
        "tools": {},
        "tool_options": {},
        "seed": 0,
        "limit": 2,
    }
    for _ in range(rng.randrange(1, 6)):
        content = mutate(content, rng, pool)
    file = home / "run.yaml"
    file.write_text(dumped(content))
    return ["run", str(file), "--out", str(home / "runs")]


def fuzzed_data(
    made: Path, home: Path, rng: random.Random, pool: list[Any]
) -> list[str]:
    """A table of data with odd cells, as CSV, JSON lines or Parquet."""
    texts = [
        value for value in pool if isinstance(value, str) and "\udcff" not in value
    ]
    columns = (
        "path",
        "label",
        "mask",
        "question",
        "choices",
        "boxes",
        "group",
        "actions",
    )
    used = ["path", "label", *rng.sample(columns[2:], rng.randrange(4))]
    rows = [
        {name: rng.choice(texts) for name in used} for _ in range(rng.randrange(1, 6))
    ]
    home.mkdir(exist_ok=True)
    kind = rng.choice(["csv", "jsonl", "parquet"])
    file = home / f"manifest.{kind}"
    if kind == "csv":
        quoted = [
            ",".join('"' + row[name].replace('"', '""') + '"' for name in used)
            for row in rows
        ]
        file.write_text("\n".join([",".join(used), *quoted]))
    elif kind == "jsonl":
        file.write_text("\n".join(dumped(mutate(row, rng, pool)) for row in rows))
    else:
        cells = [{"bytes": None, "path": row["path"]} for row in rows]
        table = pa.Table.from_pylist(rows)
        pq.write_table(table.append_column("image", [cells]), file)
        if rng.random() < 0.3:
            _damage(file, rng)
    return [
        "audit",
        "saliency",
        "--model",
        "toy-clip:scenes:0.5",
        "--data",
        f"folder:{home}",
        "--plan",
    ]


def fuzzed_cache(
    made: Path, home: Path, rng: random.Random, pool: list[Any]
) -> list[str]:
    """A file of somebody's answers."""
    file = home / "cache.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute(
            "CREATE TABLE rows (key TEXT PRIMARY KEY, value BLOB, seal TEXT)"
        )
        for number in range(rng.randrange(5)):
            value = rng.choice(
                [b"", b"\x00" * 100, rng.choice(pool), rng.randbytes(50)]
            )
            row = (
                f"{number:032x}",
                value if isinstance(value, bytes | str) else repr(value),
                rng.choice(["", "x"]),
            )
            connection.execute(
                "INSERT INTO rows VALUES (?, ?, ?)",
                tuple(
                    str(x).encode(errors="replace") if isinstance(x, str) else x
                    for x in row
                ),
            )
        connection.execute(f"PRAGMA user_version = {rng.choice([0, 1, 2, 99])}")
    connection.close()
    if rng.random() < 0.5:
        _damage(file, rng)
    return ["cache", "import", str(file)]


FUZZERS: dict[str, Callable[..., list[str]]] = {
    "run": fuzzed_run,
    "run file": fuzzed_run_file,
    "data": fuzzed_data,
    "cache": fuzzed_cache,
}


@pytest.mark.filterwarnings("default")  # a picture that is left out is a warning
def test_random_arrivals(
    tries: "Tries",
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    bait = Bait.make(tmp_path / "bait")
    pool = words(bait)
    for name, value in {
        "HF_HUB_OFFLINE": "1",
        SECRET: "sk-bank",
        "GEMINI_API_KEY": "sk",
        "CUESCOPE_CACHE": str(tmp_path / "cache"),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(webbrowser, "open", lambda page: True)
    monkeypatch.chdir(tmp_path)
    end_of(*AUDIT.split(), "--out", "made", "-q")
    until = time.monotonic() + SECONDS
    for number in tries(few=10**6, many=10**6):
        if time.monotonic() > until:
            break
        rng = random.Random(number)
        home = tmp_path / f"try-{number}"
        home.mkdir()
        name = rng.choice(sorted(FUZZERS))
        line = FUZZERS[name](tmp_path / "made", home, rng, pool)
        capsys.readouterr()
        began = time.monotonic()
        with bait.watching() as touches:
            code = end_of(*line)
        taken = time.monotonic() - began
        said = capsys.readouterr().err
        assert not touches, (number, line)
        assert "internal error" not in said, (number, line, said)
        assert "Traceback" not in said, (number, line, said)
        assert code in (0, 1, 2), (number, line, said)
        assert taken < LONGEST, (number, line)
        rmtree(home)


def end_of(*line: str) -> int:
    """The exit code of a command."""
    with pytest.raises(SystemExit) as ended:
        main(list(line))
    sys.stdout.flush()
    return int(ended.value.code or 0)
