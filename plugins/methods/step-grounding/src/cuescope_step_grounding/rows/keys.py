"""The keys of features and metrics, as the report and its checks name them."""

SGR, TCS, HR = "step_grounding_rate", "consistency", "hallucination"
VRS, ACC = "reliance", "accuracy"
REASONING, ANSWERS, VIDEO = "reasoning", "answers", "video"
OF_KIND, OF_STAGE, NAMED = "claims: ", "steps: ", "named: "  # how the keys of the parts begin
