"""What goes to the terminal: the report, progress, and how they end when nobody reads any more."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from layerguard.errors import UserError

if TYPE_CHECKING:
    from layerguard.model import Report

_PIPE_CLOSED = 141


def tell(report: Report, output_format: str, output_file: str | None) -> None:
    """Print the notes of a report and the report itself, or write the report to a file."""
    from layerguard.reporters import REPORTERS  # noqa: PLC0415 - heavy

    for note in (*report.notes, *report.weakened):
        say(f"note: {note}")
    colour = (
        not output_file and sys.stdout is not None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    )
    text = REPORTERS[output_format](report, colour=colour)
    if output_file:
        from layerguard.files import write_text  # noqa: PLC0415 - only needed here

        write_text(Path(output_file), text)
        return
    print_text(text)


def say(text: str, *, end: bool = True) -> None:
    """Write to standard error, if there is any."""
    if sys.stderr is not None:
        click.echo(text, nl=end, err=True)


def print_text(text: str) -> None:
    """Write bytes to standard output, so that neither locale nor platform changes them."""
    if sys.stdout is None:
        raise UserError("standard output is closed.", "Write the report to a file with --output-file.")
    try:
        sys.stdout.flush()
        data = memoryview(text.encode("utf-8", "surrogateescape"))
        while data:  # under PYTHONUNBUFFERED a write may take a part only
            data = data[sys.stdout.buffer.write(data) or 0 :]
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # The reader is gone. Python would complain once more when it flushes standard output at exit, and
        # click would end with the status of a violation.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(_PIPE_CLOSED)
    except OSError as error:
        raise UserError(f"standard output cannot be written: {error.strerror or error}.") from None


class Progress:
    """On a terminal, a line on standard error that tells how far the reading is, once it takes a while."""

    _DELAY = 0.5
    _EVERY = 0.1

    def __enter__(self) -> Callable[[int, int], None] | None:
        """Return what is to be called with the files read and all files; None where nobody watches."""
        self._next = time.monotonic() + self._DELAY
        self._shown = False
        return self._show if sys.stderr is not None and sys.stderr.isatty() else None

    def __exit__(self, *_: object) -> None:
        """Wipe the line."""
        if self._shown:
            say("\r\x1b[K", end=False)

    def _show(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + self._EVERY
            self._shown = True
            say(f"\rreading: {done} of {total} files\x1b[K", end=False)
