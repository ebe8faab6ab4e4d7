"""What tells one model from another: weights, vocabulary, words, and the options that matter."""

from cuescope_sdk import Options, digest
from cuescope_sdk.torch import tensor_bytes
from cuescope_videoqa.running import Network

PATHS = ("checkpoint", "answers", "features", "text_encoder", "vision")


def fingerprint(owner: str, network: Network, options: Options) -> str:
    """Digest of all that answers depend on; paths count by what is in them."""
    weights = {name: tensor_bytes(tensor) for name, tensor in network.state_dict().items()}
    others = options.model_dump(exclude=set(PATHS))
    return digest(owner, weights, network.vocabulary, others, str(network.dtype), network.content())
