"""A small residual network (He et al., 2016) with group normalisation (Wu and He, 2018)."""

import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTH = 64  # of the last maps, which are 8 x 8
GROUPS = 4
BATCH = 48


class Residual(nn.Module):
    """Two convolutions, the first of which halves the side, added to what came in."""

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, width, 3, stride, 1, bias=False)
        self.calm = nn.GroupNorm(GROUPS, width)
        self.second = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.even = nn.GroupNorm(GROUPS, width)
        self.shortcut = nn.Conv2d(channels, width, 1, stride, bias=False)

    def forward(self, maps: Tensor) -> Tensor:
        """Maps (picture, channel, row, col)."""
        changed = functional.relu(self.calm(self.first(maps)))
        changed = self.even(self.second(changed))
        return functional.relu(self.shortcut(maps) + changed)


class SmallResNet(nn.Module):
    """Pictures (picture, 3, 64, 64) to maps of 8 x 8, their mean, and logits."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 16, 5, stride=2, padding=2, bias=False),
            nn.GroupNorm(GROUPS, 16),
            nn.ReLU(),
        )
        self.stages = nn.Sequential(
            Residual(16, 32, 2),
            Residual(32, WIDTH, 2),
            Residual(WIDTH, WIDTH, 1),
        )
        self.head = nn.Linear(WIDTH, labels)

    def maps(self, pictures: Tensor) -> Tensor:
        """The last maps (picture, channel, row, col)."""
        return self.stages(self.stem(pictures))

    def forward(self, pictures: Tensor) -> Tensor:
        """Logits (picture, label)."""
        return self.head(self.maps(pictures).mean(dim=(2, 3)))

    def draw_weights(self, generator: torch.Generator) -> None:
        """First weights: normal, by how many inputs a unit has (He et al., 2015)."""
        with torch.no_grad():
            for weight in self.parameters():
                if weight.dim() > 1:
                    spread = (2 / weight[0].numel()) ** 0.5
                    weight.normal_(0, spread, generator=generator)
            self.head.bias.zero_()

    def learn(
        self,
        pictures: Tensor,
        labels: Tensor,
        generator: torch.Generator,
        *,
        epochs: int,
        rate: float,
    ) -> None:
        """AdamW, the rate rising and falling once (Smith and Topin, 2019)."""
        optimizer = torch.optim.AdamW(self.parameters(), lr=rate, weight_decay=0.01)
        steps = epochs * -(-len(pictures) // BATCH)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, steps)
        for _ in range(epochs):
            for rows in torch.randperm(len(pictures), generator=generator).split(BATCH):
                optimizer.zero_grad()
                logits = self(scale(pictures[rows]))
                functional.cross_entropy(logits, labels[rows]).backward()
                optimizer.step()
                schedule.step()


def scale(pictures: Tensor) -> Tensor:
    """Bytes to numbers about zero, in the order that convolutions are quick in."""
    pixels = pictures.float() / 127.5 - 1
    return pixels.contiguous(memory_format=torch.channels_last)
