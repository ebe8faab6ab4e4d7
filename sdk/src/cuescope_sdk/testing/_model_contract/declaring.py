"""What a model says of itself."""

from collections.abc import Mapping

from cuescope_sdk import Capabilities
from cuescope_sdk.testing._model_contract.setting import ModelSetting
from cuescope_sdk.testing._violation import NotApplicable, expect


class ModelDeclares(ModelSetting):
    """Capabilities, fingerprint, facts."""

    def test_declares_capabilities(self) -> None:
        """Pairs of method and model are refused before weights load, from the class alone."""
        declared = getattr(self.plugin, "capabilities", None)
        expect(
            isinstance(declared, Capabilities) and bool(declared.outputs),
            "a class attribute `capabilities = Capabilities(outputs=...)`",
            got=repr(declared),
            remedy="Declare which of logits, text and embedding the model can give",
        )

    def test_has_a_fingerprint(self) -> None:
        """The response cache tells models apart by it."""
        found = getattr(self.model, "fingerprint", None)
        expect(
            isinstance(found, str) and bool(found),
            "a fingerprint, some text",
            got=repr(found),
            remedy="Set self.fingerprint = digest(weights, preprocessing version)",
        )

    def test_has_the_same_fingerprint_when_built_again(self) -> None:
        """A fingerprint that changes from run to run makes every run start from nothing."""
        again = self.build()
        expect(
            self.model.fingerprint == again.fingerprint,
            "one fingerprint",
            got=f"{self.model.fingerprint}, then {again.fingerprint}",
            remedy="Digest content: weights and options, no ids, times or addresses",
        )

    def test_has_another_fingerprint_for_other_options(self) -> None:
        """Equal fingerprints give equal answers, or the cache replays the wrong ones."""
        if self.other_options is None:
            raise NotApplicable("needs `other_options` that change the answers")
        other = self.build(self.other_options)
        expect(
            other.fingerprint != self.model.fingerprint,
            "another fingerprint",
            got=f"the same for {dict(self.other_options)}",
            remedy="Let every option that changes an answer enter the fingerprint",
        )

    def test_states_facts_in_words(self) -> None:
        """Facts are printed at the head of a report."""
        facts = getattr(self.model, "facts", None)
        expect(
            isinstance(facts, Mapping)
            and all(isinstance(word, str) for pair in facts.items() for word in pair),
            "`facts`, text by text",
            got=repr(facts),
            remedy="Set self.facts = {'validation accuracy': '0.93'}, or {}",
        )
