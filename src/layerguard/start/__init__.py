"""Where a command begins: what needs no loading is answered at once, the rest is handed to the command line.

That is the help, the version, what a shell completes, and a check whose outcome is known.
"""

from __future__ import annotations

import sys

from layerguard.asked import read_arguments
from layerguard.errors import UserError
from layerguard.snapshots import Glance
from layerguard.start.known import find_outcome
from layerguard.terminal import deliver, say, tell_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

_BAD = 2
_INTERRUPTED = 130


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
    return _check(words[1:]) if words[:1] == ["check"] else None


def _check(words: Sequence[str]) -> int | None:
    asked = read_arguments(words)
    if asked is None:
        return None
    glance = Glance()
    verdict = None if "no_cache" in asked.flags else find_outcome(asked, glance)
    if verdict is None:
        from layerguard.checking import check  # noqa: PLC0415 - heavy

        return check(asked, glance)
    text = verdict.text
    if asked.form != verdict.form:
        from layerguard.reporters import render_again  # noqa: PLC0415 - heavy

        text = render_again(verdict.report, asked.form)
    deliver(verdict.notes, text, asked.values.get("output_file"))
    return int(verdict.fails(asked.flags))
