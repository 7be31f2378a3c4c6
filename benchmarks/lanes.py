"""What is measured: lanes that are run in turn, and the ratios between them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

Measure = Literal["wall", "peak", "per file"]


@dataclasses.dataclass(frozen=True)
class Lane:
    """One command, which is run once in every round.

    `verdict` is how many contracts must be kept and broken by its own words; None where it has no such words.
    """

    name: str
    command: Sequence[str]
    folder: Path
    files: int = 0
    status: int = 0
    verdict: tuple[int, int] | None = None
    environment: dict[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Ratio:
    """One lane in terms of another, and what it may be at most where there is a goal."""

    over: str
    under: str
    measure: Measure = "wall"
    limit: float | None = None


@dataclasses.dataclass(frozen=True)
class Experiment:
    """Lanes that are run in turn: first, second, first, second, so that a slow minute slows all of them.

    `before` is called before every round. With `warm`, each lane is run once before the first one, so that
    its cache is there.
    """

    scenario: str
    tree: str
    lanes: Sequence[Lane]
    ratios: Sequence[Ratio]
    warm: bool = False
    before: Callable[[int], None] | None = None
    after: Callable[[], None] | None = None


@dataclasses.dataclass(frozen=True)
class Sample:
    """One run: seconds, seconds of all processors, megabytes of its largest process."""

    wall: float
    cpu: float
    peak: float
    timed_out: bool = False
    wrong: str = ""
    """Why the run does not count, where it was not what it should be."""


@dataclasses.dataclass(frozen=True)
class Result:
    """An experiment with what came of it: of each lane one sample for each round, fewer after a time-out."""

    experiment: Experiment
    samples: Mapping[str, Sequence[Sample]]

    def ratios(self, ratio: Ratio) -> list[float]:
        """Return the ratio in each round in which both lanes were run."""
        lanes = {lane.name: lane for lane in self.experiment.lanes}

        def value(name: str, sample: Sample) -> float:
            if ratio.measure == "peak":
                return sample.peak
            return sample.wall / lanes[name].files if ratio.measure == "per file" else sample.wall

        over, under = self.samples[ratio.over], self.samples[ratio.under]
        return [value(ratio.over, a) / value(ratio.under, b) for a, b in zip(over, under, strict=False)]

    def is_bound(self, ratio: Ratio) -> bool:
        """Tell whether the other lane was stopped, so that the true ratio is smaller than what was seen."""
        return any(sample.timed_out for sample in self.samples[ratio.under])
