"""Texts that were written before."""

from pathlib import Path

from cuescope_transformers.writing.memory import FILE, TextMemory


def test_texts_are_kept_by_writer_and_prompt(tmp_path: Path) -> None:
    memory = TextMemory("one", tmp_path)
    assert memory.get(["a", "b"]) == {}
    memory.put({"a": "text of a", "c": ""})
    again = TextMemory("one", tmp_path)
    assert again.get(["a", "b", "c", "a"]) == {"a": "text of a", "c": ""}
    assert TextMemory("other", tmp_path).get(["a"]) == {}
    assert (tmp_path / FILE).is_file()
