"""Configurations as an outsider sees them: samples and answers, and nothing of what was planted."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from cuescope_planted_cues.naming import opaque_name
from cuescope_planted_cues.worlds import Configuration
from cuescope_sdk import (
    Audit,
    Capabilities,
    Context,
    Frame,
    LazyWeights,
    Model,
    Options,
    Plugin,
    Request,
    Response,
    Sample,
    Trial,
    UserError,
    Words,
    digest,
)

FOUND_ON = "1/2"  # the half that auditors see; the other one is kept for `confirm`


class OpaqueOptions(Options):
    """Which configuration; the part after `planted-trial:` is `name`."""

    argument: ClassVar[str | None] = "name"

    name: Annotated[str, Words()] = Field(
        description="as `cuescope bench auditors --list FILE` writes it",
    )


@cache
def _by_name() -> dict[str, Configuration]:
    from cuescope_planted_cues.zoo import zoo

    return {opaque_name(configuration): configuration for configuration in zoo()}


def find_configuration(options: OpaqueOptions) -> Configuration:
    """The one of this name; raises UserError where there is none."""
    if options.name not in _by_name():
        raise UserError(
            f"planted-trial: no configuration '{options.name}'",
            expected="a name as `cuescope bench auditors --list FILE` writes it",
        )
    return _by_name()[options.name]


class OpaqueData(Plugin):
    """The half of a configuration's samples in which cues are looked for.

    Which half it is depends on the seed. Pictures, questions and labels are all that samples have;
    each is a group of its own.
    """

    Options = OpaqueOptions
    options: OpaqueOptions
    facts: Mapping[str, str] = {}

    def __init__(self, options: OpaqueOptions, context: Context) -> None:
        super().__init__(options, context)
        configuration = find_configuration(options)
        audit = audit_of(configuration, context)
        data: Any = audit.context.dataset
        self.labels: tuple[str, ...] = audit.labels
        self.fingerprint = digest("opaque", data.fingerprint, context.seed)
        self._samples = audit.samples

    def __len__(self) -> int:
        return len(self._samples)

    def __getitem__(self, index: int) -> Sample:
        return without_traces(self._samples[index])


def audit_of(configuration: Configuration, context: Context) -> Audit:
    """The half of a configuration that auditors see, and its model, which can be asked."""
    from cuescope.application import Runner
    from cuescope_planted_cues.auditors import ERRORS, shelf

    model, model_options = configuration.model
    data, data_options = configuration.data
    request = Request(
        # it takes all models
        method=ERRORS,
        model=model,
        model_options=model_options,
        data=data,
        data_options=data_options,
        device=context.device,
        seed=context.seed,
        part=FOUND_ON,
    )
    own = replace(context, registry=shelf(), dataset=None)
    runner = Runner(own, context.cache / "bench", cache_responses=False)
    return runner.session(request).audit


def without_traces(sample: Sample) -> Sample:
    """A sample with pixels for frames: how they were made is nowhere in it."""
    frames = [Frame.from_array(np.asarray(frame.load())) for frame in sample.frames]
    return replace(sample, frames=tuple(frames), annotations={})


class OpaqueModel(Plugin, LazyWeights):
    """What answers a configuration: logits, and embeddings where it has them."""

    Options = OpaqueOptions
    options: OpaqueOptions
    facts: Mapping[str, str] = {}
    capabilities: Capabilities = Capabilities(outputs=frozenset({"logits"}))

    def __init__(self, options: OpaqueOptions, context: Context) -> None:
        from cuescope_planted_cues.auditors import shelf

        super().__init__(options, context)
        configuration = find_configuration(options)
        # toys may look at the labels of the data that they answer
        own = replace(context, registry=shelf(), dataset=None)
        data = own.build("dataset", *configuration.data)
        self._model: Model = own.for_dataset(data).build("model", *configuration.model)
        inner = self._model.capabilities
        outputs = inner.outputs & {"logits", "embedding"}
        # edits and insides stay closed: they would tell which toy it is
        self.capabilities = Capabilities(
            outputs=outputs, min_frames=inner.min_frames, max_frames=inner.max_frames
        )
        self.fingerprint = digest("opaque", self._model.fingerprint)

    def open_weights(self) -> None:
        if isinstance(self._model, LazyWeights):
            self._model.open_weights()

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """As the toy does."""
        return self._model.respond(trials)
