"""Every section of the specs is a test; `spec.py` tells how they are read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from spec import Section, read_spec, run_section

from layerguard.start import main

if TYPE_CHECKING:
    from collections.abc import Iterator

_SPECS = Path(__file__).parent / "specs"


def _sections() -> Iterator[object]:
    for path in sorted(_SPECS.glob("*.md")):
        for section in read_spec(path):
            marks = [pytest.mark.xfail(reason=section.xfail, strict=True)] if section.xfail else []
            yield pytest.param(section, id=f"{path.stem}::{section.title}", marks=marks)


@pytest.mark.parametrize("section", list(_sections()))
def test_spec(section: Section, tmp_path: Path) -> None:
    run_section(section, tmp_path, main)
