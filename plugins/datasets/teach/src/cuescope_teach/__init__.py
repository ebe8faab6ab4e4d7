"""TEACh (Padmakumar et al., 2022): household tasks that a commander and a driver talk through.

The authors' `edh_instances` or `tfd_instances`, `games` and `images`. The splits "iid" and "ood"
hold recipes out (Rahman et al., section 4.1).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import Field

from cuescope_sdk import Names, UserError, Words
from cuescope_sdk.data import (
    Episode,
    EpisodeOptions,
    Episodes,
    TextFile,
    held_out_categories,
)
from cuescope_teach.layout import Task, files_of, read_instance, read_task
from cuescope_teach.samples import choose_moments, scenes

HELD_TASKS = 3
Official = Literal["train", "valid_seen", "valid_unseen", "test_seen", "test_unseen"]


class TEAChOptions(EpisodeOptions):
    """Those of every data set of pictures in turn, and what is held out."""

    split: Annotated[str, Names.part()] = Field(
        "valid_seen",
        description="train, valid_seen, valid_unseen, test_seen, test_unseen, iid or ood",
    )
    instances: Literal["edh", "tfd"] = Field(
        "edh", description="edh: from a point of the dialogue on; tfd: a whole game"
    )
    frames: int = Field(16, ge=1, description="most frames shown of an instance")
    ood: Official = Field(
        "valid_seen", description="the split whose games are parted into iid and ood"
    )
    held_tasks: Annotated[tuple[str, ...] | None, Words()] = Field(
        None, description="held-out tasks: NAME,NAME; default three drawn by lot"
    )


class TEACh(Episodes):
    """A sample an instance: the dialogue is its question, the driver's pictures are its frames.

    "scene" has the actions and motions of the driver, "times" are seconds of the game, "game" is
    its id; in the splits iid and ood, "task" is its recipe. The group is the game, of which EDH has
    several instances; iid and ood part whole games.
    """

    Options = TEAChOptions
    options: TEAChOptions
    title: ClassVar[str] = "teach"
    benchmark: str | None = "TEACh"
    split_names: ClassVar[tuple[str, ...]] = (*get_args(Official), "iid", "ood")

    def read(self, split: str) -> Iterator[Episode]:
        parted = split in ("iid", "ood")
        official = self.options.ood if parted else split
        # GAME.tfd.json, but GAME.edh0.json
        suffix = ".tfd.json" if self.options.instances == "tfd" else ".json"
        folder = f"{self.options.instances}_instances"
        files = files_of(self.root, folder, official, suffix, self.title)
        tasks = self._part(official, split) if parted else {}
        for file in files:
            # of all names the game's id stands before the first point
            game = file.name.partition(".")[0]
            if not parted or game in tasks:
                yield self._episode(file, official, tasks.get(game))

    def _episode(self, file: Path, split: str, task: Task | None) -> Episode:
        instance = read_instance(TextFile(file, self.title))
        moments = instance.moments
        indices = choose_moments(moments, self.options.frames)
        folder = self.images / split / instance.game_id
        pictures = []
        times = []
        for index in indices:
            moment = moments[index]
            pictures.append(folder / moment.picture)
            times.append(moment.time)
        annotations = {"game": instance.game_id}
        if task is not None:
            annotations["task"] = task.task_name
        return Episode(
            file.name.removesuffix(".json"),
            tuple(pictures),
            tuple(times),
            scenes(moments, indices),
            instance.dialogue,
            annotations,
            instance.game_id,
        )

    def _part(self, split: str, wanted: str) -> dict[str, Task]:
        """The tasks of the games in or out of distribution, which share no recipe.

        Out are the games of held-out tasks; in are those that share no part with them either.
        """
        files = files_of(self.root, "games", split, ".game.json", self.title)
        tasks = {}
        for file in files:
            game = file.name.removesuffix(".game.json")
            tasks[game] = read_task(TextFile(file, self.title))
        held = held_out_categories(
            self.options.held_tasks,
            {task.task_name for task in tasks.values()},
            HELD_TASKS,
            title=self.title,
            what="task",
        )
        outside = {}
        recipes: set[str] = set()
        for game, task in tasks.items():
            if task.task_name in held:
                outside[game] = task
                recipes |= task.recipes
        inside = {
            game: task for game, task in tasks.items() if not task.recipes & recipes
        }
        neither = len(tasks) - len(inside) - len(outside)
        self.facts["held out"] = f"tasks {', '.join(sorted(held))}"
        self.facts["distribution"] = (
            f"of the games of {split} {len(inside):,} are in, {len(outside):,} out of it, and "
            f"{neither:,} neither (they share a part with a held-out task)"
        )
        part = outside if wanted == "ood" else inside
        if not part:
            raise UserError(
                f"{self.title}: no games in split {wanted}",
                got=f"{self.facts['distribution']}; held out are {self.facts['held out']}",
            )
        return part
