"""What goes to the terminal: the report, progress, and how they end when nobody reads any more.

Loaded by every command before anything else, so that it imports nothing that takes time.
"""

from __future__ import annotations

import os
import sys
import time

from layerguard.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_PIPE_CLOSED = 141


def wants_colour(output_file: str | None) -> bool:
    """Tell whether a report is to be in colour: on a terminal, unless NO_COLOR is set."""
    if output_file or sys.stdout is None or not sys.stdout.isatty():
        return False
    return not os.environ.get("NO_COLOR")


def deliver(notes: Iterable[str], text: str, output_file: str | None) -> None:
    """Write notes to standard error, and a report to standard output or into a file."""
    for note in notes:
        say(note)
    if output_file:
        from pathlib import Path  # noqa: PLC0415 - only needed here

        from layerguard.files import write_text  # noqa: PLC0415 - only needed here

        # To replace a file changes its folder, which may be one that the outcome depends on.
        if not _is_written(output_file, text):
            write_text(Path(output_file), text)
        return
    print_text(text)


def _is_written(path: str, text: str) -> bool:
    try:
        with open(path if os.path.isfile(path) else os.devnull, "rb") as file:  # noqa: PTH113, PTH123 - no pathlib here
            return file.read() == text.encode("utf-8", "surrogatepass")
    except OSError:
        return False


def say(text: str, *, end: bool = True) -> None:
    """Write to standard error, if there is any."""
    if sys.stderr is not None:
        sys.stderr.write(f"{text}\n" if end else text)
        sys.stderr.flush()


def tell_error(error: UserError) -> None:
    """Write what went wrong to standard error, and what can be done."""
    say(f"error: {error.message}")
    if error.hint:
        say(f"  hint: {error.hint}")


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
