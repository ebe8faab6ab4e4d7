"""YAML from strangers: values alone, and no more of them than the text lets expect."""

from typing import Any

import yaml

MAX_VALUES = 100_000  # after aliases are followed


def load_yaml(content: str | bytes) -> Any:
    """The one document of a text; raises yaml.YAMLError, also for aliases that multiply."""
    loader = yaml.SafeLoader(content)  # safe: a file must not run code
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        if _values(node, {}) > MAX_VALUES:
            raise yaml.YAMLError(f"aliases (*name) make more than {MAX_VALUES:,} values of it")
        return loader.construct_document(node)
    except RecursionError as error:
        raise yaml.YAMLError("it is nested too deeply, or an alias (*name) holds itself") from error
    finally:
        loader.dispose()


def _values(node: yaml.Node, known: dict[int, int]) -> int:
    """How many values a node stands for; an alias is the node itself, met again."""
    if id(node) not in known:
        parts: list[yaml.Node] = []
        if isinstance(node, yaml.SequenceNode):
            parts = node.value
        elif isinstance(node, yaml.MappingNode):
            parts = [part for pair in node.value for part in pair]
        known[id(node)] = 1 + sum(_values(part, known) for part in parts)
    return known[id(node)]
