"""How a model answers: whole, in order, as asked."""

import numpy as np

from cuescope_sdk import Response, Trial
from cuescope_sdk.testing._model_contract.comparing import with_choices
from cuescope_sdk.testing._model_contract.setting import ModelSetting
from cuescope_sdk.testing._violation import ContractViolation, NotApplicable, expect


class ModelAnswers(ModelSetting):
    """The shape of answers."""

    def test_answers_every_trial(self) -> None:
        """One response a trial, and none for no trial."""
        for count in (0, 1, len(self.samples)):
            got = len(self.model.respond(self.trials()[:count]))
            expect(
                got == count,
                f"{count} responses to {count} trials",
                got=got,
                remedy="Return a list with a response a trial",
            )

    def test_answers_with_responses(self) -> None:
        """`Response` is what the cache stores: float32 numpy, checked to be finite."""
        for response in self.model.respond(self.trials()):
            expect(
                isinstance(response, Response),
                "a cuescope_sdk.Response",
                got=type(response).__name__,
                remedy="Wrap the arrays: Response(logits=...)",
            )

    def test_answers_in_order(self) -> None:
        """The engine gives each trial the response at its place."""
        forward = self.model.respond(self.trials())
        backward = self.model.respond(self.trials()[::-1])[::-1]
        expect(
            all(map(self.alike, forward, backward)),
            "the responses reversed when the trials are",
            got="others",
            remedy="Keep the order of the trials when batching or sorting by length",
        )

    def test_answers_each_output_asked_for(self) -> None:
        """What is declared can be had, alone as well as with the others."""
        for output in sorted(self.capabilities.outputs):
            for response in self.model.respond(self.trials(outputs=frozenset({output}))):
                expect(
                    not response.missing(frozenset({output})),
                    f"the declared output '{output}'",
                    got="none",
                    remedy="Answer it, or do not declare it in `capabilities`",
                )

    def test_gives_a_logit_for_each_choice(self) -> None:
        """Logits are over the sample's own choices, however many."""
        self.needs("logits")
        for fewer in (0, 1):
            samples = [with_choices(s, s.choices[fewer:]) for s in self.samples]
            trials = [Trial(sample=sample) for sample in samples if sample.choices]
            for trial, response in zip(trials, self.model.respond(trials), strict=True):
                got = -1 if response.logits is None else len(response.logits)
                expect(
                    got == len(trial.sample.choices),
                    f"{len(trial.sample.choices)} logits",
                    got=got,
                    remedy="Score the choices of each sample, not a fixed list",
                )

    def test_follows_the_order_of_choices(self) -> None:
        """Choices in another order are the same question."""
        self.needs("logits")
        turned = [with_choices(s, s.choices[::-1]) for s in self.samples]
        plain = self.model.respond(self.trials(outputs=frozenset({"logits"})))
        other = self.model.respond([Trial(sample=sample) for sample in turned])
        for one, reversed_ in zip(plain, other, strict=True):
            if one.logits is None or reversed_.logits is None:
                raise ContractViolation("logits", got="none", remedy="Answer what is asked for")
            expect(
                self.alike(Response(logits=one.logits), Response(logits=reversed_.logits[::-1])),
                "logits that follow their choices",
                got=f"{one.logits} and {reversed_.logits}",
                remedy="Look choices up by name",
            )

    def test_embeds_in_one_space(self) -> None:
        """Embeddings are compared with one another, so they have one dimension."""
        self.needs("embedding")
        asked = self.trials(outputs=frozenset({"embedding"}))
        vectors = [response.embedding for response in self.model.respond(asked)]
        dims = {len(vector) for vector in vectors if vector is not None}
        expect(
            len(dims) == 1 and min(dims) > 1,
            "embeddings of one dimension, 2 or more",
            got=sorted(dims),
            remedy="Pool over frames and tokens to a vector of fixed length",
        )

    def test_embeds_texts_as_unit_rows(self) -> None:
        """`embed_texts` rows are compared with image embeddings by dot product."""
        embed = getattr(self.model, "embed_texts", None)
        if embed is None:
            raise NotApplicable("asks about `embed_texts`, which this model has not")
        rows = np.asarray(embed(["a dog", "a cat", "a dog"]))
        units = rows.ndim == 2 and len(rows) == 3
        units = units and bool(np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-2))
        expect(
            units and np.allclose(rows[0], rows[2], atol=1e-2) and not np.allclose(*rows[:2]),
            "a unit row a text, in order",
            got=f"shape {rows.shape}",
            remedy="Normalise the text features and keep their order",
        )
