"""What a sample says of the things that it shows."""

from cuescope_sdk import Sample


def classes_of(sample: Sample) -> tuple[str, ...]:
    """Its objects, and its label, each once."""
    labels = () if sample.label is None else (sample.label,)
    return tuple(dict.fromkeys((*sample.annotations.get("objects", ()), *labels)))
