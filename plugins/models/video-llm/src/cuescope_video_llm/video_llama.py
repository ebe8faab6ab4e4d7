"""Video-LLaMA (Zhang et al., 2023): each frame by BLIP-2, all frames by a second Q-Former."""

from collections.abc import Sequence
from typing import Any

import torch
from PIL import Image
from torch import Tensor, nn

from cuescope_sdk import Frame, Sample, UserError
from cuescope_sdk.torch import Checkpoint
from cuescope_video_llm.language import AFTER, BEFORE, TURN, VideoTokens
from cuescope_video_llm.network import Network, Pixels, q_former


class VideoLLaMANetwork(Network):
    """The queries of every frame get its place in time, and are read by the video's queries."""

    def __init__(
        self,
        file: Checkpoint,
        options: Any,
        language_model: Any,
        tokenizer: Any,
    ) -> None:
        super().__init__(file, options, language_model, tokenizer)
        dim = file.size("query_tokens", 2)
        places = file.size("video_frame_position_embedding.weight")
        self.video_frame_position_embedding = nn.Embedding(places, dim)
        count = file.size("video_query_tokens", 1)
        self.video_query_tokens = nn.Parameter(torch.zeros(1, count, dim))
        self.video_qformer = q_former(file, "video_Qformer", dim, options.head_dim)

    def encode(self, pixels: Pixels) -> VideoTokens:
        """Raises UserError for more frames than there are places in time."""
        frames = len(pixels)
        places = self.video_frame_position_embedding.num_embeddings
        if frames > places:
            raise UserError(
                f"{self.title}: a sample of {frames} frames",
                expected=f"{places} at most, which the checkpoint has places for",
                remedy=f"Take fewer with -O data.frames={places}, where the data set has "
                "that option.",
            )
        states = self.vision(pixel_values=pixels).last_hidden_state
        queries = self.query_tokens.expand(frames, -1, -1)
        seen = self.qformer(
            query_embeds=queries, encoder_hidden_states=states
        ).last_hidden_state
        times = self.video_frame_position_embedding.weight[:frames, None]
        timed = (seen + times).flatten(0, 1)[None]
        output = self.video_qformer(
            query_embeds=self.video_query_tokens, encoder_hidden_states=timed
        )
        rows = output.last_hidden_state.to(self.llama_proj.weight.dtype)
        return self.llama_proj(rows)  # type: ignore[no-any-return]

    def picture(self, frame: Frame) -> Image.Image:
        """Squeezed into a square."""
        return frame.load().resize((self.side, self.side), Image.Resampling.BILINEAR)

    @property
    def stop(self) -> str | None:
        # Llama 2 ends its turn by its own token
        return TURN if self.options.conversation == "vicuna" else None

    def conversation(self, sample: Sample, video: Tensor) -> Sequence[str | Tensor]:
        """One turn: the video, what is said of it, and the question."""
        # an empty note or question must leave no second space
        words = filter(None, (AFTER, self.note(sample), sample.question))
        question = " ".join(words)
        system = self.options.system
        if self.options.conversation == "vicuna":
            return [
                f"{system}{TURN}Human: {BEFORE}",
                video,
                f"{question}{TURN}Assistant:",
            ]
        opening = f"<<SYS>>\n{system}\n<</SYS>>\n\n"
        return [f"[INST] {opening}{BEFORE}", video, f"{question} [/INST]"]
