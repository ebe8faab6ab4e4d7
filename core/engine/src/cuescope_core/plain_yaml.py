"""YAML from strangers: values alone, each written out."""

from typing import Any

import yaml

MAX_BYTES = 4_000_000  # PyYAML reads a megabyte of plain text in a quarter of a second
MAX_VALUES = 100_000
MAX_NUMBER = 1_000  # characters: the time of reading a number grows with their square
MAX_MESSAGE = 500  # characters: a message quotes the file
NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")


# what PyYAML says of the commonest mistakes, and what it means
PLAIN_WORDS = {
    "mapping values are not allowed here": "a second colon: put a text with a colon into quotes",
    "found character '\\t'": "a tab: indent with blanks",
    "found unexpected end of stream": "a quote that is not closed",
    "but got '<stream end>'": "a bracket that is not closed",
    "expected the node content": "a value is missing",
    "expected <block end>": "it is indented by more or fewer blanks than its neighbours",
    "could not find expected ':'": "a colon is missing",
}


class NoYAML(yaml.MarkedYAMLError):
    """A text that is no YAML, with its line: "line 2: a tab: indent with blanks"."""

    def __str__(self) -> str:
        """One line."""
        problem = self.problem or "it cannot be read"
        # the first: what follows from one mistake is listed after it
        plain = (words for said, words in PLAIN_WORDS.items() if said in problem)
        line = self.problem_mark.line + 1 if self.problem_mark else 1
        return f"line {line}: {next(plain, problem)}"


class _Loader(yaml.SafeLoader):  # safe: a file must not run code
    """Takes no aliases, by which a few lines stand for any number of values."""

    values = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("it has aliases (*name): write their values out")
        self.values += 1
        if self.values > MAX_VALUES:
            raise yaml.YAMLError(f"it holds more than {MAX_VALUES:,} values")
        node: yaml.Node | None = super().compose_node(parent, index)
        digits = len(node.value) if node is not None and node.tag in NUMBERS else 0
        if digits > MAX_NUMBER:
            raise yaml.YAMLError(f"it holds a number of {digits:,} digits")
        return node


def load_yaml(content: str | bytes) -> Any:
    """The one document of a text; raises yaml.YAMLError for all that cannot be read in a moment.

    That is a text of more than 4 MB or 100,000 values, one nested deeply, or one with aliases.
    """
    if len(content) > MAX_BYTES:
        raise yaml.YAMLError(f"it is larger than {MAX_BYTES // 10**6} MB")
    try:
        return _Loader(content).get_single_data()
    except RecursionError as error:
        raise yaml.YAMLError("it is nested too deeply") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = (error.problem or error.context or "")[:MAX_MESSAGE]
        raise NoYAML(problem=problem, problem_mark=mark) from error
    except (
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        ArithmeticError,
    ) as error:
        # PyYAML lets them out for such as a 13th month, `!!int x` or `!!timestamp x`
        raise yaml.YAMLError(
            f"a value cannot be read: {str(error)[:MAX_MESSAGE]}"
        ) from error
    except yaml.YAMLError as error:
        if len(str(error)) <= MAX_MESSAGE:
            raise
        raise yaml.YAMLError(f"{str(error)[:MAX_MESSAGE]} ...") from error
