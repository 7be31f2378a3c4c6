"""The commands. Nothing else prints or exits."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from layerguard import __version__
from layerguard.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from layerguard.model import Report

FORMATS = ("full", "concise", "json", "github", "gitlab", "sarif", "junit")
_BAD = 2
_INTERRUPTED = 130
_PIPE_CLOSED = 141


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="layerguard", message="%(prog)s %(version)s")
def cli() -> None:
    """Check which packages of a Python code base may import which.

    Exit status: 0 all contracts kept, 1 violations, 2 the check could not be made.
    """


@cli.command()
@click.argument("paths", nargs=-1, metavar="[PATH]…")
@click.option(
    "--contract", "contracts", multiple=True, metavar="ID", help="Check this contract only (repeatable)."
)
@click.option(
    "--output-format",
    type=click.Choice(FORMATS),
    help="How to report. Default: full; in a CI system its own.",
)
@click.option(
    "--output-file", type=click.Path(dir_okay=False), help="Write the report there instead of printing it."
)
@click.option("--show-allowed", is_flag=True, help="Report the allowed violations too.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are violations.")
def check(
    *,
    paths: tuple[str, ...],
    contracts: tuple[str, ...],
    output_format: str | None,
    output_file: str | None,
    show_allowed: bool,
    exit_zero: bool,
) -> int:
    """Check the imports of the project against its contracts.

    PATHs limit what is reported, not what is read.
    """
    from layerguard import run  # noqa: PLC0415 - heavy

    with _Progress() as progress:
        report = run.check(paths=paths, contracts=contracts, show_allowed=show_allowed, progress=progress)
    _tell(report, output_format or default_format(os.environ), output_file)
    return 1 if report.failed and not exit_zero else 0


@cli.command()
@click.option(
    "--check", "only_check", is_flag=True, help="Write nothing; exit with 1 if something would be written."
)
def ratchet(*, only_check: bool) -> int:
    """Remove the allowances that are no longer needed.

    None is ever added. In a CI system nothing is written.
    """
    from layerguard import run  # noqa: PLC0415 - heavy

    in_ci = os.environ.get("CI", "").lower() not in {"", "0", "false"}
    with _Progress() as progress:
        done = run.ratchet(write=not only_check and not in_ci, progress=progress)
    for note in done.notes:
        click.echo(f"note: {note}", err=True)
    _print(f"removed {done.removed}, moved {done.moved}, kept {done.kept}\n")
    if in_ci and done.changed and not only_check:
        click.echo(
            f"note: nothing was written to {done.path}, because this is a CI system (CI is set).", err=True
        )
    return 1 if done.changed and (only_check or in_ci) else 0


@cli.command()
@click.argument("topic", metavar="CODE|ID")
def explain(topic: str) -> int:
    """Tell what a code means, or what a contract says, holds and allows today."""
    from layerguard.explain import explain as text_about  # noqa: PLC0415 - heavy

    _print(text_about(topic))
    return 0


def default_format(environment: Mapping[str, str]) -> str:
    """Return the output format that suits the environment: that of the CI system, else `full`."""
    if environment.get("GITHUB_ACTIONS") == "true":
        return "github"
    return "gitlab" if environment.get("GITLAB_CI") == "true" else "full"


def _tell(report: Report, output_format: str, output_file: str | None) -> None:
    from layerguard.reporters import REPORTERS  # noqa: PLC0415 - heavy

    for note in report.notes:
        click.echo(note, err=True)
    colour = not output_file and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    text = REPORTERS[output_format](report, colour=colour)
    if output_file:
        from layerguard.files import write_text  # noqa: PLC0415 - only needed here

        write_text(Path(output_file), text)
        return
    _print(text)


def _print(text: str) -> None:
    """Write bytes to standard output, so that neither locale nor platform changes them."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # The reader is gone. Python would complain once more when it flushes standard output at exit, and
        # click would end with the status of a violation.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(_PIPE_CLOSED)


class _Progress:
    """On a terminal, a line on standard error that tells how far the reading is, once it takes a while."""

    _DELAY = 0.5
    _EVERY = 0.1

    def __enter__(self) -> Callable[[int, int], None] | None:
        """Return what is to be called with the files read and all files; None where nobody watches."""
        self._next = time.monotonic() + self._DELAY
        self._shown = False
        return self._show if sys.stderr.isatty() else None

    def __exit__(self, *_: object) -> None:
        """Wipe the line."""
        if self._shown:
            click.echo("\r\x1b[K", nl=False, err=True)

    def _show(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + self._EVERY
            self._shown = True
            click.echo(f"\rreading: {done} of {total} files\x1b[K", nl=False, err=True)


def main() -> NoReturn:
    """Run the command line, and exit with its status."""
    try:
        status = cli.main(standalone_mode=False, prog_name="layerguard")
    except UserError as error:
        click.echo(f"error: {error.message}", err=True)
        if error.hint:
            click.echo(f"  hint: {error.hint}", err=True)
        status = _BAD
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        status = _INTERRUPTED
    sys.exit(status)
