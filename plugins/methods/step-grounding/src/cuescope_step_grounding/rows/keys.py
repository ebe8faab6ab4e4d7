"""The keys of features and metrics, as the report and its checks name them."""

SGR = "step_grounding_rate"
TCS = "consistency"
HR = "hallucination"
VRS = "reliance"
ACC = "accuracy"
REASONING = "reasoning"
ANSWERS = "answers"
VIDEO = "video"
# How the keys of the parts begin.
OF_KIND = "claims: "
OF_STAGE = "steps: "
NAMED = "named: "
