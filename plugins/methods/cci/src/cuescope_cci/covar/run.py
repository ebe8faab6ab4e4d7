"""One model after the other is asked; then come the tables and a picture."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cuescope_cci.covar.answers import Answers, ask
from cuescope_cci.covar.contexts import background_pulls
from cuescope_cci.covar.effects import contrasts
from cuescope_cci.covar.images import Images, draw_sources, read_images
from cuescope_cci.covar.measures import (
    class_drops,
    correct,
    correct_classes,
    subset_drops,
)
from cuescope_cci.covar.models import load_models
from cuescope_cci.covar.pictures import grid
from cuescope_cci.covar.tables import (
    accuracy_table,
    class_tables,
    context_table,
    effects_table,
    error_tables,
    images_table,
    subset_table,
)
from cuescope_cci.error_source import RULES
from cuescope_sdk import Picture, Table


def run(
    models: str,
    open_session: Callable[[str, Mapping[str, Any]], Any],
    rng: Callable[[str], np.random.Generator],
    *,
    photos: int | None,
    errors: int | None,
) -> Iterator[Table | Picture]:
    """All that the bench shows; `open_session` takes the SPEC and the options of a model."""
    # before any model is opened: a typing error must show at once
    entries = load_models(models)
    images = None
    answers = []
    for entry in entries:
        session = open_session(entry.model, entry.options)
        audit = session.audit
        # the images of the first model for all: figures are paired image by image
        if images is None:
            samples = draw_sources(audit.samples, photos, rng("photos"))
            images = read_images(samples, audit.labels)
            yield images_table(images, getattr(session.parts.data.plugin, "facts", {}))
        of_model = ask(
            audit, session.parts.method.plugin.options, images, entry.name, errors
        )
        answers.append(of_model)
        del session, audit  # one model in memory at a time
    if images is None:
        return
    yield from _accuracies(answers, images)
    tested = {}
    for model in answers:
        tested[model.name] = subset_drops(model.right, images, rng("subsets"))
    # over all models together, as they stand in one table
    drops = correct(tested)
    yield subset_table(drops)
    # of one model: the picture shows the data, and one example of its answers
    yield grid(answers[0], images)
    for model in answers:
        yield from _classes(model, images, rng("classes"))
    for model in answers:
        yield context_table(
            model.name, background_pulls(model, images, rng("contexts"))
        )
    effects = effects_table(contrasts(entries, answers, images, rng("effects")))
    if effects is not None:
        yield effects


def _accuracies(answers: Sequence[Answers], images: Images) -> Iterator[Table]:
    yield accuracy_table(answers, images)
    if any(model.with_cause(rule).any() for model in answers for rule in RULES):
        for rule in RULES:
            yield from error_tables(answers, images, rule)
    else:
        yield Table.of(
            "BG-Er and Fine-Er (Table 4)",
            ("model",),
            (),
            "Left out: no wrong answer, or no foreground masks.",
        )


def _classes(
    model: Answers,
    images: Images,
    rng: np.random.Generator,
) -> Iterator[Table]:
    whole = class_drops(model.right, images, None, rng)
    classes = []
    for code in np.unique(images.label):
        drops = class_drops(model.right, images, images.labels[code], rng)
        classes.append(drops)
    # without the row of all classes: it is no class, and is corrected by itself
    classes = correct_classes(classes)
    yield from class_tables(model.name, [*correct_classes([whole]), *classes])
