"""Convolutions on each frame, and a recurrent layer over the frames (CNN and GRU)."""

import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTH = 64
BATCH = 48
EPOCHS_FAIR = 7
EPOCHS_BIASED = 6


class FramesThenTime(nn.Module):
    """Clips (clip, frame, channel, 32, 32) to logits."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        self.eye = nn.Sequential(
            nn.Conv2d(3, 16, 5, stride=2, padding=2),
            nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(32, 32, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(32 * 16, WIDTH),
        )
        self.memory = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.head = nn.Linear(WIDTH, labels)

    def embed(self, clips: Tensor) -> Tensor:
        """What is remembered after the last frame (clip, dim)."""
        count, length = clips.shape[:2]
        seen = functional.relu(self.eye(clips.flatten(0, 1)))
        states, _ = self.memory(seen.view(count, length, WIDTH))
        return states[:, -1]

    def forward(self, clips: Tensor) -> Tensor:
        """Logits (clip, label)."""
        return self.head(self.embed(clips))

    def draw_weights(self, generator: torch.Generator) -> None:
        """First weights: normal, by how many inputs a unit has (He et al., 2015)."""
        with torch.no_grad():
            for name, weight in self.named_parameters():
                if "bias" in name:
                    weight.zero_()
                else:
                    gain = 1.0 if "memory" in name else 2.0
                    spread = (gain / weight[0].numel()) ** 0.5
                    weight.normal_(0, spread, generator=generator)

    def learn(
        self,
        clips: Tensor,
        labels: Tensor,
        generator: torch.Generator,
        *,
        epochs: int,
        rate: float,
    ) -> None:
        """Adam, the rate falling as a cosine."""
        optimizer = torch.optim.Adam(self.parameters(), lr=rate)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
        for _ in range(epochs):
            for rows in torch.randperm(len(clips), generator=generator).split(BATCH):
                optimizer.zero_grad()
                pixels = clips[rows].float() / 255 - 0.4
                functional.cross_entropy(self(pixels), labels[rows]).backward()
                nn.utils.clip_grad_norm_(self.parameters(), 1.0)
                optimizer.step()
            schedule.step()
