"""The keys of features and metrics, as the report and its checks name them."""

from cuescope_sdk.grounding import ClaimKind

SGR, TCS, HR = "step_grounding_rate", "consistency", "hallucination"
VRS, ACC = "reliance", "accuracy"
REASONING, ANSWERS, VIDEO = "reasoning", "answers", "video"
OF_KIND, OF_STAGE, NAMED = "claims: ", "steps: ", "named: "  # how the keys of the parts begin
KINDS: dict[ClaimKind, str] = {
    "entity": "What is on screen",
    "attribute": "How things look",
    "count": "How many there are",
    "action": "What happens",
    "relation": "Where things are",
    "temporal": "In which order",
    "ego-motion": "How the camera moves",
}
