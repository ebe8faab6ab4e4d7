"""One run as the page shows it: report, answers, pictures, the names that a person gave."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any, Self

from cuescope.application import (
    RunFolder,
    draw_occurrence,
    exhibit_key,
    give_names,
    next_steps,
    open_context,
    picture_key,
    read_names,
    root,
    source_of,
    stored_picture,
    whole_text,
)
from cuescope_sdk import BadDataError, Occurrence, Report, StoredRun, UserError, inside
from cuescope_view.samples import SampleTable

NAMES = "names.json"
SMALL = 192  # pixels a side: twice what the page shows, for dense screens
LARGE = 768


@dataclass(frozen=True)
class OpenRun:
    """A run in a folder of runs. What it holds is read when it is first asked for."""

    path: Path
    made_here: bool
    opens_data: bool
    _lock: Any

    @classmethod
    def of(cls, path: Path, home: Path, *, opens_data: bool) -> Self:
        """Raises UserError where a file of the run lies outside of `home`."""
        require_within(path, home)
        pictures = path / "pictures"
        for file in pictures.iterdir() if pictures.is_dir() else ():
            inside(home, file.absolute())
        made_here = source_of(path).typed_before
        # a stranger's report could name any data on this computer
        return cls(path, made_here, opens_data and made_here, Lock())

    @property
    def place(self) -> str:
        """Its folder, as a page can show it."""
        return whole_text(str(self.path))

    @cached_property
    def stored(self) -> StoredRun:
        """The run; its data are opened only where it was made here."""
        return StoredRun(self.path, open_context(None, None))

    @cached_property
    def report(self) -> Report:
        """What it says."""
        return self.stored.report

    @cached_property
    def table(self) -> SampleTable:
        """Its answers by sample; raises UserError where it keeps none."""
        return SampleTable(self.report, self.stored.answers)

    @property
    def steps(self) -> list[tuple[str, str | None]]:
        """What to do next, in words, with the commands."""
        return next_steps(self.report, self.place)

    # ---------------------------------------------------------------------------------- names

    @property
    def names(self) -> dict[str, str]:
        """The names that a person gave to cues, by key."""
        return read_names(self.path)

    def rename(self, feature: str, name: str) -> None:
        """Keep a name for a cue; an empty one takes it back. Raises UserError for no cue of it."""
        give_names(self.path, self.report, {feature: name})

    # ---------------------------------------------------------------------------------- cues

    def save_cue(self, name: str, shown: list[str], others: list[str]) -> Path:
        """Keep a cue file of samples that a person marked, in the folder `cues` of the run.

        Raises UserError where the data may not be opened, or have no such sample.
        """
        from cuescope_sdk.cues import unlearned_cue

        if not self.opens_data:
            raise UserError(
                "a cue keeps pictures of its samples, and the data are not opened",
                remedy="For a run that was made here: cuescope view --open-data",
            )
        keys = [*shown, *others]
        # one at a time: opening the data may take minutes, and is done once
        with self._lock:
            samples = self.stored.samples
        for key in keys:
            if key not in self.table.samples or key not in samples:
                raise UserError(f"no sample {key} in the run")
        cue = unlearned_cue(
            [samples[key] for key in keys],
            [*[True] * len(shown), *[False] * len(others)],
            name,
            f"marked in {self.path.name}",
        )
        file = self.stored.place("cues") / f"{cue.identity}.cue"
        cue.save(file)
        return file

    # ------------------------------------------------------------------------------- pictures

    @cached_property
    def _pictures(self) -> dict[str, bytes]:
        with warnings.catch_warnings():
            # one that was changed is not shown, and the page has no place for a warning
            warnings.simplefilter("ignore")
            return RunFolder(self.path).pictures(self.report)

    @cached_property
    def _places(self) -> dict[str, list[tuple[str, str]]]:
        """Sample -> the features and keys of its stored pictures."""
        places: dict[str, list[tuple[str, str]]] = {}

        def add(feature: str, key: str, place: Occurrence) -> None:
            if key in self._pictures:
                sample = root(place.sample, self.table.samples) or place.sample
                places.setdefault(sample, []).append((feature, key))

        for contrast in self.report.contrasts:
            for side in contrast.sides:
                for exhibit in side.exhibits:
                    occurrence = exhibit.occurrence
                    add(contrast.feature, exhibit_key(occurrence), occurrence)
        for feature in self.report.features:
            for occurrence in feature.occurrences:
                add(feature.key, picture_key(occurrence), occurrence)
        return places

    def has_picture(self, sample: str) -> bool:
        """Whether the run can show a sample."""
        return self.opens_data or sample in self._places

    def picture(self, sample: str, feature: str | None, *, large: bool) -> bytes:
        """A JPEG of a sample, with the cue outlined where its place is known.

        Raises UserError where there is none.
        """
        side = LARGE if large else SMALL
        if self.opens_data:
            return self._draw(sample, feature, side)
        places = self._places.get(sample)
        if not places:
            raise UserError(f"no picture of {sample}")
        of_feature = [key for owner, key in places if owner == feature]
        # a picture with another cue outlined is better than none
        return shrink(self._pictures[(of_feature or [places[0][1]])[0]], side)

    def _draw(self, sample: str, feature: str | None, side: int) -> bytes:
        if sample not in self.table.samples:
            raise UserError(
                f"no picture of {sample}", got="a sample that was not asked"
            )
        # one at a time: opening the data may take minutes, and is done once
        with self._lock:
            samples = self.stored.samples
        if sample not in samples or not samples[sample].frames:
            raise UserError(f"no picture of {sample}")
        place = self._first_place(sample, feature) or Occurrence(sample=sample)
        try:
            return draw_occurrence(samples[sample], place, side)
        except BadDataError as error:
            raise UserError(f"no picture of {sample}", got=str(error)) from error

    def _first_place(self, sample: str, feature: str | None) -> Occurrence | None:
        for candidate in self.report.features:
            if candidate.key == feature:
                for occurrence in candidate.occurrences:
                    if root(occurrence.sample, self.table.samples) == sample:
                        return occurrence
        return None


def require_within(path: Path, home: Path) -> None:
    """Raise UserError where the run, or what is read and written in it, is outside of `home`."""
    for name in (
        ".",
        "report.json",
        "answers.parquet",
        NAMES,
        "pictures",
        "cues",
    ):
        # of a relative path: `inside` takes names in `home`
        inside(home, (path / name).absolute())


def shrink(picture: bytes, side: int) -> bytes:
    """The picture as a JPEG of our own with at most so many pixels a side; raises UserError.

    It is drawn anew: what else a stranger's file holds does not reach the browser.
    """
    small = stored_picture(picture).convert("RGB")
    small.thumbnail((side, side))
    file = BytesIO()
    small.save(file, "JPEG", quality=80)
    return file.getvalue()
