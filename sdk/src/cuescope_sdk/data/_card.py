"""A card of what was read: classes, splits, boxes, sizes, clips, pictures as a model sees them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from PIL import Image

from cuescope_core.amounts import count_of
from cuescope_sdk import BadDataError, Dataset, Detection, Sample
from cuescope_sdk.data._input_checks import InputCheck

MOST_NAMED = 6  # classes, splits and sizes in a line
OPENED = 40  # samples whose pictures are measured: a folder may hold a hundred thousand
THUMBNAILS = 8
SIDE = 160  # pixels of a thumbnail


def describe_data(data: Dataset) -> dict[str, str]:
    """Describe the samples of a data set, a line each."""
    samples = [data[index] for index in range(len(data))]
    lines = {
        "samples": f"{len(samples):,}",
        "answers": _labels(samples, data.labels),
        "splits": _counts(
            str(s.annotations["split"]) for s in samples if "split" in s.annotations
        ),
        "pictures": _pictures(samples),
        "boxes and masks": _regions(samples),
    }
    return {name: words for name, words in lines.items() if words}


def check_groups(data: Dataset) -> InputCheck:
    """Check which samples belong together: by groups declared or shown, if any."""
    groups = [data[index].group for index in range(len(data))]
    known = [group for group in groups if group is not None]
    if not known:
        return InputCheck(
            "what belongs together",
            "note",
            "not known: no column, picture or file says it. Declare it (-O data.group=COLUMN, or "
            "-O data.group=none where each was drawn by itself)",
        )
    sizes = Counter(known)
    if len(sizes) == 1 < len(groups):
        return InputCheck(
            "what belongs together", "fault", f"all {len(groups):,} are of one group"
        )
    largest = max(sizes.values())
    samples = count_of(len(groups), "samples")
    words = f"{samples} of {len(sizes):,} groups, the largest of {largest:,}"
    if largest == 1:
        words = f"each of {samples} by itself, as declared"
    return InputCheck("what belongs together", "ok", words)


def check_choices(data: Dataset) -> Iterator[InputCheck]:
    """Labels that are missing, and classes that are one but for their spelling."""
    labels = Counter(data[index].label for index in range(len(data)))
    if labels[None]:
        yield InputCheck(
            "labels",
            "fault" if labels[None] < len(data) else "note",
            f"{labels[None]:,} of {len(data):,} samples without one",
        )
    # answers to questions of their own may be spelled as anybody likes
    closed = filter(None, labels) if data.labels else ()
    spellings: dict[str, list[str]] = {}
    for label in closed:
        spellings.setdefault(" ".join(label.casefold().split()), []).append(label)
    alike = [names for names in spellings.values() if len(names) > 1]
    if alike:
        pairs = ", ".join(
            " and ".join(map(repr, names)) for names in alike[:MOST_NAMED]
        )
        yield InputCheck(
            "labels", "fault", f"differ in capitals or blanks alone: {pairs}"
        )


def contact_sheet(data: Dataset) -> Image.Image | None:
    """Eight pictures of the data, spread over it, as a model sees them; None without pictures."""
    count = min(THUMBNAILS, len(data))
    sheet = Image.new("RGB", (SIDE * 4, SIDE * 2), "white")
    shown = 0
    for place in range(count):
        sample = data[(2 * place + 1) * len(data) // (2 * count)]
        if not sample.frames:
            continue
        picture = sample.frames[len(sample.frames) // 2].load().copy()
        picture.thumbnail((SIDE - 4, SIDE - 4))
        sheet.paste(picture, (SIDE * (shown % 4) + 2, SIDE * (shown // 4) + 2))
        shown += 1
    return sheet if shown else None


def _labels(samples: Sequence[Sample], labels: Sequence[str]) -> str:
    given = [sample.label for sample in samples if sample.label is not None]
    if not given:
        return "no sample has a label"
    if labels or len(set(given)) <= MOST_NAMED:
        return _counts(given)
    options = Counter(len(sample.choices) for sample in samples)
    kinds = [
        f"{number:,} with {count_of(count, 'options')}"
        if count
        else f"{number:,} in words"
        for count, number in sorted(options.items())
    ]
    return ", ".join(kinds[:MOST_NAMED])


def _counts(values: Iterator[str] | Sequence[str]) -> str:
    counts = Counter(values)
    named = [f"{name} {count:,}" for name, count in counts.most_common(MOST_NAMED)]
    more = len(counts) - MOST_NAMED
    return ", ".join(named) + (f" and {more:,} more" if more > 0 else "")


def _pictures(samples: Sequence[Sample]) -> str:
    lengths = Counter(len(sample.frames) for sample in samples)
    parts = []
    if lengths[0]:
        parts.append(f"{lengths.pop(0):,} without a picture")
    if lengths.pop(1, 0):
        parts.append(
            f"{count_of(sum(len(s.frames) == 1 for s in samples), 'pictures')}"
        )
    parts += [
        f"{count_of(number, 'clips')} of {count_of(count, 'frames')}"
        for count, number in sorted(lengths.items())
    ]
    # evenly over the data: the first may be all of one class
    shown = [sample for sample in samples if sample.frames]
    step = max(1, len(shown) // OPENED)
    sizes: Counter[str] = Counter()
    for sample in shown[::step][:OPENED]:
        try:
            width, height = sample.frames[0].load().size
        except BadDataError:
            sizes["unreadable"] += 1
            continue
        sizes[f"{width} x {height}"] += 1
    if sizes:
        named = ", ".join(size for size, _ in sizes.most_common(3))
        parts.append(f"{named}{' and others' if len(sizes) > 3 else ''} pixels")
    return ", ".join(parts)


def _regions(samples: Sequence[Sample]) -> str:
    boxes = [sample.annotations.get("boxes", ()) for sample in samples]
    found = [box for box in chain.from_iterable(boxes) if isinstance(box, Detection)]
    parts = []
    if found:
        named = _counts([box.name for box in found])
        parts.append(
            f"{count_of(len(found), 'boxes')} ({named}) in pixels of the pictures as shown"
        )
    masks = sum("foreground" in sample.annotations for sample in samples)
    if masks:
        parts.append(f"{masks:,} masks")
    return ", ".join(parts)
