"""Where a command begins: what needs no loading is answered at once, the rest is handed to the command line.

That is the help, the version, what a shell completes, and a check whose outcome is known.
"""

from __future__ import annotations

import os
import sys

from layerguard.errors import UserError
from layerguard.terminal import deliver, print_text, say, tell_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

ASKED_BY_SHELL = "_LAYERGUARD_COMPLETE"
"""The variable by which a shell asks how to complete a command line: click makes it of the program's name."""
_BAD = 2
_INTERRUPTED = 130
_QUESTIONS = {"-h", "--help", "--version"}


def main() -> NoReturn:
    """Run the command line, and exit with its status."""
    try:
        status = _answer(sys.argv[1:])
    except UserError as error:
        tell_error(error)
        status = _BAD
    except KeyboardInterrupt:
        say("interrupted")
        status = _INTERRUPTED
    if status is None:
        from layerguard.cli import main as run  # noqa: PLC0415 - heavy

        run()
    sys.exit(status)


def _answer(words: Sequence[str]) -> int | None:
    """Answer what can be answered at once; return the status, None where nothing was done."""
    question = os.environ.get(ASKED_BY_SHELL)
    if question:
        from layerguard.start.completing import find_completions  # noqa: PLC0415 - only needed here

        return _print(find_completions(question, os.environ))
    if words and words[-1] not in _QUESTIONS:
        return _check(words[1:]) if words[0] == "check" else None
    from layerguard.start.helping import find_answer  # noqa: PLC0415 - only needed here

    if not words:  # to click that is a mistake
        return _complain(find_answer(["--help"], os.environ))
    return _print(find_answer(words, os.environ))


def _print(text: str | None) -> int | None:
    if text is None or sys.stdout is None:
        return None
    print_text(text)
    return 0


def _complain(text: str | None) -> int | None:
    if text is None:
        return None
    say(text, end=False)
    return _BAD


def _check(words: Sequence[str]) -> int | None:
    from layerguard.asked import read_arguments  # noqa: PLC0415 - only needed here
    from layerguard.snapshots import Glance  # noqa: PLC0415 - the same
    from layerguard.start.known import find_outcome  # noqa: PLC0415 - the same

    asked = read_arguments(words)
    if asked is None:
        return None
    glance = Glance()
    verdict = None if "no_cache" in asked.flags else find_outcome(asked, glance)
    if verdict is None:
        import gc  # noqa: PLC0415 - only needed here

        from layerguard.lean import load_msgspec  # noqa: PLC0415 - heavy

        gc.disable()  # of what a check makes hardly anything is part of a cycle, and it is over soon
        load_msgspec()
        from layerguard.checking import check  # noqa: PLC0415 - the same

        return check(asked, glance)
    text = verdict.text
    if asked.form != verdict.form:
        from layerguard.reporters import render_again  # noqa: PLC0415 - heavy

        text = render_again(verdict.report, asked.form)
    deliver(verdict.notes, text, asked.values.get("output_file"))
    return int(verdict.fails(asked.flags))
