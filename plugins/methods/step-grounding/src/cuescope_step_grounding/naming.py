"""The names that options take."""

from typing import Literal

# How reasoning is asked for; `lite` for belief states alone, `natural` not at all.
Style = Literal["minimal", "neutral", "verbose", "natural", "lite"]
# What is changed of a sample (section 3.5); a paraphrase leaves the video as it is.
Perturbation = Literal["position", "temporal", "visibility", "irrelevant", "paraphrase"]
# What becomes of claims of which nothing can be said: they do not count, count as unsupported, or
# count half (section 3.2, "Handling Unverifiable Steps").
Policy = Literal["exclude", "penalise", "neutral"]
# What a belief is (section 3.3): a state that steps add to and the scene takes from, or a step.
Belief = Literal["state", "step"]
