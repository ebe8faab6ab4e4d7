"""vLLM's offline engine as a cuescope model: plain trials in large batches."""

from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from cuescope_sdk import (
    Capabilities,
    Context,
    LazyWeights,
    Plugin,
    Response,
    Trial,
    UserError,
)
from cuescope_sdk.models import refuse_unanswerable
from cuescope_vllm.options import VLLMOptions

OWNER = "vllm"


class VLLM(Plugin, LazyWeights):
    """Greedy answers, and choices by their log-probability as the answer."""

    Options = VLLMOptions
    options: VLLMOptions
    answers_version = 1
    capabilities: Capabilities = Capabilities(
        outputs=frozenset(("logits", "text")), min_frames=0
    )

    def __init__(self, options: VLLMOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_sdk.torch import Pretrained

        # first: without vLLM no file needs to be fetched
        engine = installed_version()
        files = Pretrained.find(
            OWNER,
            options.model,
            options.revision,
            context,
            # nothing is built of it: vLLM has networks of its own
            lambda config, source: type(config),
            options.trust_remote_code,
        )
        self._files = files
        wording = options.model_dump(include={"max_new_tokens", "prompt", "question"})
        # another vLLM may round otherwise
        self.fingerprint = files.fingerprint("vllm", engine, wording)
        self.facts = {"weights": files.source.title, "engine": f"vLLM {engine}"}
        self.device = str(files.device)
        # vLLM is told as it starts how many images a question may have
        limits = {"max_frames": options.frames}
        self.capabilities = self.capabilities.model_copy(update=limits)

    @cached_property
    def engine(self) -> Any:
        """vLLM's `LLM`; whoever asks first opens the weights. Raises UserError where it fails."""
        from cuescope_vllm.engine import open_engine

        self.context.stop_plan_before(f"the weights of {self._files.source.title}")
        return open_engine(
            self._files.title,
            model=str(self._files.source.folder),
            dtype=self.context.dtype,
            seed=0,  # answers are greedy: nothing is drawn
            trust_remote_code=self.options.trust_remote_code,
            tensor_parallel_size=self.options.gpus,
            gpu_memory_utilization=self.options.memory,
            max_model_len=self.options.max_model_len,
            limit_mm_per_prompt={"image": self.options.frames},
            enable_prefix_caching=True,  # choices and questions share images
        )

    def open_weights(self) -> None:
        _ = self.engine

    def require_answerable(self, trials: Sequence[Trial]) -> None:
        """Raises UserError for what is not declared."""
        refuse_unanswerable(OWNER, self.capabilities, trials)

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        from cuescope_vllm.engine import respond

        self.require_answerable(trials)
        return respond(self.engine, trials, self.options)


def installed_version() -> str:
    """vLLM's version, without importing it; raises UserError where it is not installed."""
    try:
        return version("vllm")
    except PackageNotFoundError as error:
        raise UserError(
            "vllm is not installed",
            remedy="pip install vllm (docs.vllm.ai says which build fits the GPU), or ask a "
            "server: --model openai:NAME -O model.base_url=http://localhost:8000/v1",
        ) from error


__all__ = ["VLLM", "VLLMOptions"]
