"""A stock model whose files are found and checked now, and whose weights are opened late."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from cuescope.context import Context
from cuescope.digest import digest
from cuescope.errors import UserError
from cuescope_sdk.torch._devices import resolve_device, resolve_dtype
from cuescope_sdk.torch._fingerprints import files_digest
from cuescope_sdk.torch._hub_folders import Source, find_source, weight_files
from cuescope_sdk.torch._pretrained_files import (
    config_content,
    load_part,
    require_tensors,
    require_vocabulary,
)

BESIDE_WEIGHTS = ("generation_config.json", "adapter_*")  # what transformers opens with them


@dataclass(frozen=True)
class Pretrained:
    """Everything that is known of a model before its weights.

    `builder` is the class whose `from_pretrained` opens them, perhaps an Auto class.
    """

    source: Source
    config: Any
    builder: Any
    context: Context
    device: torch.device
    dtype: torch.dtype
    trust_remote_code: bool | None = None

    @property
    def title(self) -> str:
        """What errors call it."""
        return f"{self.source.owner}: {self.source.title}"

    @property
    def network(self) -> Any:
        """The class of the model; where that is code of its own, the Auto class."""
        known = getattr(self.builder, "_model_mapping", {})
        return known.get(type(self.config), self.builder)

    @property
    def facts(self) -> dict[str, str]:
        """What a report says of it."""
        return {"architecture": self.network.__name__, "weights": self.source.title}

    def read(self, what: str, cls: Any, **options: Any) -> Any:
        """`cls.from_pretrained` of the files; raises UserError where they cannot be read."""
        return load_part(self.source, self.trust_remote_code, what, cls, **options)

    def processor(self, takes_text: bool = True) -> Any:
        """The processor; raises UserError where there is none, or none that reads text."""
        import transformers

        if takes_text:
            require_vocabulary(self.source)
        found = self.read("processor", transformers.AutoProcessor)
        if not isinstance(found, transformers.ProcessorMixin):
            raise UserError(
                f"{self.title} has no processor",
                expected="processor_config.json or preprocessor_config.json",
                remedy="Save the processor in the same folder with save_pretrained.",
            )
        return found

    def opened(self) -> Any:
        """The model with its weights, on its device; raises UserError where some are missing.

        A plan ends here.
        """
        self.context.stop_plan_before(f"the weights of {self.source.title}")
        model, info = self.read(
            "weights", self.builder, config=self.config, dtype=self.dtype, output_loading_info=True
        )
        require_tensors(model, info, self.source)
        return model.eval().requires_grad_(False).to(self.device)

    def fingerprint(self, *said: object) -> str:
        """Digest of the weights' files, the configuration, the dtype and what else is said."""
        beside = [file for name in BESIDE_WEIGHTS for file in self.source.folder.glob(name)]
        files = [*weight_files(self.source), *sorted(beside)]
        return digest(files_digest(files), config_content(self.config), str(self.dtype), *said)


def find_pretrained(
    owner: str,
    model: str,
    revision: str | None,
    context: Context,
    builder_of: Callable[[Any, Source], Any],
    trust_remote_code: bool | None = None,
) -> Pretrained:
    """Find a folder or hub id, read its configuration, and ask `builder_of` what opens it.

    `trust_remote_code` None: the plugin has no such option. Raises UserError for whatever a person
    can mend.
    """
    import transformers

    placed = resolve_device(context.device), resolve_dtype(context.dtype)
    source = find_source(owner, model, revision, bool(trust_remote_code))
    config = load_part(source, trust_remote_code, "configuration", transformers.AutoConfig)
    builder = builder_of(config, source)
    return Pretrained(source, config, builder, context, *placed, trust_remote_code)
