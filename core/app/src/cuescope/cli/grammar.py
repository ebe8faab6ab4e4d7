"""One grammar for the options of plugins: `-O model.dtype=bf16`, `-O data.split=test`, `-O k=4`."""

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

# what a key begins with -> the option that commands declare; a key without one is the method's
FLAGS = {"model": "-M", "data": "-D", "tool": "-T", "log": "-L"}
KINDS = {flag: kind for kind, flag in FLAGS.items()}
MERGED = {"model_option", "data_option", "method_option", "tool", "tool_option"}


def read_dotted_options(command: Any) -> None:
    """Make a command, and those below it, read `-O model.KEY=VALUE` and show it in its help."""
    for below in getattr(command, "commands", {}).values():
        read_dotted_options(below)
    declared = {flag for param in command.params for flag in param.opts}
    flags = {kind: flag for kind, flag in FLAGS.items() if flag in declared}
    if not flags:
        return
    parse = command.parse_args

    def parse_args(context: Any, args: list[str]) -> Any:
        left = parse(context, list(_by_flag(args, flags)))
        _merge(context)
        return left

    command.parse_args = parse_args
    for param in command.params:
        if (kind := KINDS.get(param.opts[0])) is not None:
            line = (f"-O {kind}.{param.metavar}", param.help)
            param.get_help_record = lambda _, line=line: line


def _merge(context: Any) -> None:
    """Add what cuescope.toml says of options that are not typed, for plugins that are not."""
    own = context.default_map or {}

    def typed(name: str) -> list[str]:
        source = context.get_parameter_source(name)
        is_typed = source is not None and source.name == "COMMANDLINE"
        # a SPEC, or a list of KEY=VALUE
        return context.params.get(name) or [] if is_typed else []

    for name in own.keys() & context.params.keys() & MERGED:
        keys = {pair.partition("=")[0] for pair in typed(name)}
        kept = [pair for pair in own[name] if pair.partition("=")[0] not in keys]
        if name in ("model_option", "data_option") and typed(name[: -len("_option")]):
            kept = []
        if name == "tool_option":
            roles = {pair.partition("=")[0] for pair in typed("tool")}
            kept = [pair for pair in kept if pair.partition(".")[0] not in roles]
        context.params[name] = [*kept, *typed(name)]


def _by_flag(args: Sequence[str], flags: dict[str, str]) -> Iterator[str]:
    """The words with each dotted option under the flag of its kind."""
    words = iter(args)
    for word in words:
        if word == "--":
            yield word
            yield from words
        elif word[:2] == "-O" and word[:3] != "-O=":
            value = word[2:] or next(words, None)
            if value is None:
                yield word
                continue
            kind, dot, rest = value.partition(".")
            if dot and kind in flags and "=" not in kind:
                yield from (flags[kind], rest)
            else:
                yield from ("-O", value)
        else:
            if word[:2] in flags.values() and word[1:2] != "-":
                kind = KINDS[word[:2]]
                text = f"use -O {kind}.KEY=VALUE, {word[:2]} KEY=VALUE ends in 0.3"
                warnings.warn(text, FutureWarning, stacklevel=2)
            yield word
