"""A stranger's model files, read strictly and quietly."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import shorten
from typing import Any

from cuescope.errors import UserError
from cuescope_sdk.torch._hub_folders import Source
from cuescope_sdk.torch._quiet import quiet

NOT_CONTENT = ("_name_or_path", "architectures", "transformers_version", "dtype")
VOCABULARIES = ("tokenizer.json", "vocab.json", "vocab.txt", "spiece.model", "tokenizer.model")


def load_part(
    source: Source, trust_remote_code: bool | None, what: str, cls: Any, **options: Any
) -> Any:
    """`cls.from_pretrained` of the source; raises UserError where it cannot be read.

    `trust_remote_code` None: the plugin has no such option, and no code of the model's own runs.
    """
    remedy = (
        "Read that code, then add -M trust_remote_code=true, "
        "or -T ROLE.trust_remote_code=true for a tool."
    )
    with _told_as_user_error(source, what, None if trust_remote_code is None else remedy), quiet():
        trusted = bool(trust_remote_code)
        return cls.from_pretrained(source.folder, trust_remote_code=trusted, **options)


def require_tensors(network: Any, info: dict[str, Any], source: Source) -> None:
    """Raises UserError for missing weights: transformers only warns of what it draws at random."""
    missing = sorted(info["missing_keys"])
    if missing:
        raise UserError(
            f"{source.owner}: {source.title} lacks weights of a {type(network).__name__}",
            expected="every tensor of the model",
            got=f"{len(missing)} without, {missing[0]} the first",
        )


def config_content(configuration: Any) -> str:
    """What a configuration says, without where and by whom it was saved."""

    def without(said: Any) -> Any:
        if not isinstance(said, dict):
            return said
        return {name: without(of) for name, of in said.items() if name not in NOT_CONTENT}

    return json.dumps(without(configuration.to_dict()), sort_keys=True, default=str)


def tokenizer_content(tokenizer: Any) -> list[object]:
    """A tokenizer's rules and words; padding is the caller's."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        return [type(tokenizer).__name__, tokenizer.get_vocab()]
    rules = json.loads(backend.to_str())
    return [json.dumps({k: v for k, v in rules.items() if k not in ("padding", "truncation")})]


def require_vocabulary(source: Source) -> None:
    """Raises UserError without one: transformers makes a tokenizer that knows no word instead."""
    if not any((source.folder / name).is_file() for name in VOCABULARIES):
        raise UserError(
            f"{source.owner}: {source.title} has no tokenizer",
            expected=f"one of {', '.join(VOCABULARIES)}",
            remedy="Save the tokenizer in the same folder with save_pretrained.",
        )


@contextmanager
def _told_as_user_error(source: Source, what: str, for_code: str | None) -> Iterator[None]:
    """The reader of a stranger's files fails in any way it likes; a person reads one line.

    `for_code` is the remedy where the files want to run code of their own.
    """
    try:
        yield
    except Exception as error:
        reason = shorten(str(error), 200) or type(error).__name__
        code = "trust_remote_code" in str(error)
        raise UserError(
            f"{source.owner}: the {what} of {source.title} cannot be read",
            got="code of its own, which is not run unasked" if code else reason,
            remedy=for_code if code else None,
        ) from error
