"""Options of `vllm`."""

from pydantic import Field, PositiveInt

from cuescope_sdk.models import PromptWords, QuestionPrompt, StockOptions


class VLLMOptions(StockOptions):
    """Which model, over how many GPUs, and what is said to it."""

    gpus: PositiveInt = Field(1, description="GPUs over which the model is spread")
    memory: float = Field(
        0.9,
        gt=0,
        le=1,
        description="share of each GPU's memory to take",
    )
    frames: PositiveInt = Field(16, description="most images in a question")
    max_model_len: PositiveInt | None = Field(
        None, description="most tokens of prompt and answer; default: the model's own"
    )
    max_new_tokens: PositiveInt = Field(32, description="longest answer in tokens")
    prompt: QuestionPrompt = Field(
        "{question}", description="the user's words; the question replaces {question}"
    )
    question: PromptWords = Field(
        "", description="asked where a sample has no question"
    )
