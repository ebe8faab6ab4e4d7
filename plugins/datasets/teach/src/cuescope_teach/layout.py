"""The authors' files: instances with the driver's pictures and actions, games with their task."""

from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from pydantic import BaseModel, FiniteFloat

from cuescope_sdk import UserError, nearest
from cuescope_sdk.data import TextFile, require_inside

DRIVER = 1  # who moves; 0 is the commander, who only speaks (Padmakumar et al., 2022)


class DriverAction(BaseModel):
    """What the driver did; `time_start` in seconds, `oid` "Mug|-01.2|+00.9|+03.0" where known."""

    action_name: str
    time_start: FiniteFloat
    oid: str | None = None


class Interaction(BaseModel):
    """An entry of the game's log, of which only success is taken (1, or 0)."""

    agent_id: int
    time_start: FiniteFloat
    success: int | None = None


class Instance(BaseModel):
    """`GAME.edhN.json` or `GAME.tfd.json`; picture i was taken just before action i."""

    game_id: str
    dialog_history: tuple[tuple[str, str], ...]
    dialog_history_cleaned: tuple[tuple[str, str], ...] | None = None
    driver_action_history: tuple[DriverAction, ...] = ()
    driver_image_history: tuple[str, ...] = ()
    driver_actions_future: tuple[DriverAction, ...] = ()
    driver_images_future: tuple[str, ...] = ()
    interactions: tuple[Interaction, ...] = ()

    @property
    def dialogue(self) -> str | None:
        """ "Commander: Clean all the mugs." a line, spelling mended where the authors did."""
        # cleaned where it was published
        spoken = self.dialog_history_cleaned or self.dialog_history
        return (
            "\n".join(f"{speaker}: {words}" for speaker, words in spoken if words)
            or None
        )

    @property
    def moments(self) -> "list[Moment]":
        """Each successful action of the driver with its picture, in order."""
        names = (*self.driver_image_history, *self.driver_images_future)
        actions = (*self.driver_action_history, *self.driver_actions_future)
        # The log says what failed, the history of actions does not: they are joined by their time.
        failed = set()
        for entry in self.interactions:
            # None, where the log does not say, is no failure
            if entry.agent_id == DRIVER and entry.success == 0:
                failed.add(entry.time_start)
        moments = []
        for picture, action in zip(names, actions, strict=True):
            seconds = action.time_start
            if seconds not in failed:
                moments.append(Moment(picture, seconds, action.action_name, action.oid))
        return moments


@dataclass(frozen=True, slots=True)
class Moment:
    """A picture and what is done next, at `time` in seconds of the game."""

    picture: str
    time: float
    action: str
    oid: str | None = None


class Component(BaseModel):
    """A part of a task, which may be a task itself."""

    task_name: str | None = None
    task: Optional["Task"] = None  # pydantic resolves the name when Task is there


class Task(BaseModel):
    """A recipe with its parts."""

    task_name: str
    components: dict[str, Component] = {}

    @property
    def recipes(self) -> frozenset[str]:
        """Its name, and those of all tasks that it is made of."""
        # Some parts only name a task, others hold it whole with parts of its own.
        names = {self.task_name}
        for part in self.components.values():
            if part.task_name is not None:
                names.add(part.task_name)
            if part.task is not None:
                names |= part.task.recipes
        return frozenset(names)


class Game(BaseModel):
    """`GAME.game.json`; `tasks` has one."""

    tasks: tuple[Task, ...]


def read_instance(file: TextFile) -> Instance:
    """An instance; raises UserError for a file that is none, and for pictures without actions."""
    instance = file.json_object(Instance)
    for pictures, actions in (
        ("driver_image_history", "driver_action_history"),
        ("driver_images_future", "driver_actions_future"),
    ):
        count = len(getattr(instance, pictures))
        count_of_actions = len(getattr(instance, actions))
        if count != count_of_actions:
            raise UserError(
                file.name,
                expected=f"as many {pictures} as {actions}",
                got=f"{count} and {count_of_actions}",
            )
    done = (*instance.driver_action_history, *instance.driver_actions_future)
    times = [action.time_start for action in done]
    # Scenes are read off the order: two clocks would mix what was done before and after.
    if times != sorted(times):
        raise UserError(file.name, expected="actions in the order of their time_start")
    if not instance.moments:
        raise UserError(file.name, expected="a picture and a successful action")
    return instance


def read_task(file: TextFile) -> Task:
    """The task of a game; raises UserError for a file that is none."""
    tasks = file.json_object(Game).tasks
    if not tasks:
        raise UserError(file.name, expected="a task", got="none")
    return tasks[0]


def files_of(
    root: Path,
    folder: str,
    split: str,
    suffix: str,
    title: str,
) -> list[Path]:
    """The files `root/folder/split/*suffix`, by name; raises UserError where there is none."""
    split_folder = root / folder / split
    if not split_folder.is_dir():
        above = root / folder if (root / folder).is_dir() else root
        folders = [entry.name for entry in above.glob("*/")]
        raise UserError(
            f"{title}: no folder {folder}/{split}",
            expected=f"it in {root}",
            remedy=nearest(split, folders),
        )
    files = sorted(split_folder.glob(f"*{suffix}"))
    if not files:
        raise UserError(
            f"{title}: {folder}/{split}",
            expected=f"files *{suffix}",
            got="none",
        )
    # a link may lead out of the data
    require_inside([root], files, title)
    return files
