"""The commands. Nothing else prints or exits."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from layerguard import __version__
from layerguard.asked import Asked
from layerguard.errors import UserError
from layerguard.surroundings import FORMATS
from layerguard.terminal import Progress, print_text, say, tell_error

if TYPE_CHECKING:
    from layerguard.model import Reach

_BASE_HELP = (
    "Compare the allowance file with this revision. Default: what CI or the configuration names, or HEAD."
)
_BAD = 2
_INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="layerguard", message="%(prog)s %(version)s")
def cli() -> None:
    """Check which packages of a Python code base may import which.

    Contracts stand in layerguard.toml, or in pyproject.toml below [tool.layerguard].
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
    help="How to report. Default: full; in GitHub Actions github, in GitLab CI gitlab.",
)
@click.option(
    "--output-file", type=click.Path(dir_okay=False), help="Write the report there instead of printing it."
)
@click.option("--base", metavar="REV", help=_BASE_HELP)
@click.option("--strict-contracts", is_flag=True, help="Fail when a contract promises less than at the base.")
@click.option("--show-allowed", is_flag=True, help="Report the violations that have an allowance too.")
@click.option("--fix", is_flag=True, help="Rewrite the old names of moved modules first.")
@click.option("--diff", is_flag=True, help="Print what --fix would change, and stop there.")
@click.option("--no-cache", is_flag=True, help="Read everything anew, and keep nothing for the next run.")
@click.option(
    "--cache-dir",
    type=click.Path(file_okay=False),
    help="Where to keep what was found. Default: LAYERGUARD_CACHE_DIR, or .layerguard_cache in the project.",
)
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are violations.")
def check(
    *,
    paths: tuple[str, ...],
    contracts: tuple[str, ...],
    output_format: str | None,
    output_file: str | None,
    base: str | None,
    strict_contracts: bool,
    show_allowed: bool,
    fix: bool,
    diff: bool,
    no_cache: bool,
    cache_dir: str | None,
    exit_zero: bool,
) -> int:
    """Check the imports of the project against its contracts.

    PATHs limit what is reported, not what is read. --fix needs the extra layerguard[fix], and rewrites what
    'removed' contracts have new names for.

    Exit status: 0 all contracts kept, 1 violations (with --diff: something to fix), 2 the check could not be
    made.
    """
    from layerguard import checking  # noqa: PLC0415 - heavy

    if diff:
        return int(_fix(paths, contracts, write=False) and not exit_zero)
    if fix:
        _fix(paths, contracts, write=True)
    values = {
        "base": base,
        "cache_dir": cache_dir,
        "output_file": output_file,
        "output_format": output_format,
    }
    flags = {
        "exit_zero": exit_zero,
        "no_cache": no_cache,
        "show_allowed": show_allowed,
        "strict_contracts": strict_contracts,
    }
    return checking.check(Asked.of(paths, contracts, values, flags))


@cli.command("ratchet")
@click.option(
    "--check", "only_check", is_flag=True, help="Write nothing; exit with 1 if something would be written."
)
@click.option(
    "--adopt", metavar="ID", help="Write the first allowances of a contract that the base does not have."
)
@click.option("--base", metavar="REV", help=_BASE_HELP)
@click.option("--resolve", is_flag=True, help="Mend a merge conflict in the allowance file.")
def shrink(*, only_check: bool, adopt: str | None, base: str | None, resolve: bool) -> int:
    """Remove the allowances that are no longer needed.

    Those of modules that moved are rewritten. None is ever added to a contract that the base has. In a CI
    system nothing is written, and the exit status is that of --check.
    """
    from layerguard import merging, ratchet  # noqa: PLC0415 - heavy
    from layerguard.allowances.ci import ci_variable  # noqa: PLC0415 - heavy
    from layerguard.keeping import open_keeper  # noqa: PLC0415 - heavy

    if adopt and resolve:
        raise click.UsageError("--adopt and --resolve do not go together.")
    done: ratchet.Ratcheted | ratchet.Adopted | merging.Resolved
    ci = ci_variable(os.environ)
    write = not only_check and not ci
    with Progress() as progress:
        if resolve:
            done = merging.resolve_conflict(write=write)
        elif adopt:
            done = ratchet.adopt(adopt, base=base, write=write, progress=progress)
        else:
            done = ratchet.ratchet(base=base, write=write, progress=progress, keeper=open_keeper(None))
    for note in done.notes:
        say(f"note: {note}")
    print_text(f"{done}\n")
    if ci and done.changed and not only_check:
        say(f"note: nothing was written to {done.path}, because this is a CI system ({ci} is set).")
    return 1 if done.changed and (only_check or ci) else 0


@cli.command("merge-driver", hidden=True)
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("ours", type=click.Path(path_type=Path))
@click.argument("theirs", type=click.Path(path_type=Path))
def merge_driver(*, base: Path, ours: Path, theirs: Path) -> int:
    """Merge three versions of the allowance file into OURS, for git.

    Exit status 1: one of them cannot be read, and OURS is as it was.
    """
    from layerguard.merging import merge_files  # noqa: PLC0415 - heavy

    try:
        merge_files(base, ours, theirs)
    except UserError as error:
        say(f"error: {error.message}")
        return 1
    return 0


@cli.command()
@click.option("--output-format", type=click.Choice(["full", "json"]), default="full", help="How to tell it.")
@click.option(
    "--last",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    metavar="N",
    help="How many commits to show.",
)
def debt(*, output_format: str, last: int) -> int:
    """Tell how many allowances there are, whose and how old.

    Also how their number changed with the last commits that touched the allowance file. Owners are those of
    the CODEOWNERS file.
    """
    from layerguard.debt import measure, to_json, to_text  # noqa: PLC0415 - heavy

    found = measure(last=last)
    for note in found.notes:
        say(f"note: {note}")
    width = shutil.get_terminal_size().columns
    print_text(to_json(found) if output_format == "json" else to_text(found, width))
    return 0


@cli.command()
@click.argument("topic", metavar="CODE|KIND|ID")
def explain(topic: str) -> int:
    """Tell what a code or a kind means, or all about a contract.

    Of a contract: what it says, whether it holds, and what it allows today.
    """
    from layerguard.explain import explain as text_about  # noqa: PLC0415 - heavy

    print_text(text_about(topic))
    return 0


@cli.command()
@click.argument("importer")
@click.argument("imported")
@click.option(
    "--reach",
    type=click.Choice(["direct", "transitive", "load"]),
    default="transitive",
    show_default=True,
    help="direct: single imports. transitive: chains. load: what importing IMPORTER really loads.",
)
@click.option(
    "--all",
    "number",
    type=click.IntRange(1),
    default=1,
    metavar="N",
    help="Show the N shortest chains instead of one.",
)
def why(*, importer: str, imported: str, reach: Reach, number: int) -> int:
    """Show by which imports one module comes to another.

    That is the shortest chain from IMPORTER to IMPORTED, one place a line. Both may be packages; IMPORTED may
    be external, or a name in a module. Exit status: 0 a chain, 1 none.
    """
    from layerguard.why import why as find  # noqa: PLC0415 - heavy

    with Progress() as progress:
        answer = find(".", importer, imported, reach=reach, number=number, progress=progress)
    print_text(answer.text)
    return 0 if answer.chains else 1


@cli.command()
@click.option("--auto", is_flag=True, help="Derive imports that must break each contract, and plant them.")
@click.option(
    "--contract", "contracts", multiple=True, metavar="ID", help="Test this contract only (repeatable)."
)
def test(*, auto: bool, contracts: tuple[str, ...]) -> int:
    """Test the contracts with imports that they must catch.

    The code of each [[contract.plant]] is put into the project, in memory. Nothing is written. Exit status: 1
    when a plant was missed, or caught and should not be, or a contract catches nothing.
    """
    from layerguard.planting.trial import try_contracts  # noqa: PLC0415 - heavy

    with Progress() as progress:
        trial = try_contracts(".", contracts=contracts, auto=auto, progress=progress)
    print_text(trial.text)
    return 1 if trial.failed else 0


@cli.command("clean")
@click.option(
    "--cache-dir", type=click.Path(file_okay=False), help="Where the cache is, if not in its usual place."
)
def clean_cache(*, cache_dir: str | None) -> int:
    """Remove the cache: what `check` keeps for the next run.

    That is the folder .layerguard_cache in the project root, unless another one is named.
    """
    from layerguard.cache import clean, find_cache  # noqa: PLC0415 - heavy
    from layerguard.config import find_root  # noqa: PLC0415 - heavy

    folder = find_cache(find_root(Path())[0], cache_dir)
    print_text(f"removed {folder}\n" if clean(folder) else f"there is no cache at {folder}\n")
    return 0


def _fix(paths: tuple[str, ...], contracts: tuple[str, ...], *, write: bool) -> bool:
    """Fix, or print what would be; return whether there is anything to fix. What is left goes to stderr."""
    from layerguard import fixes  # noqa: PLC0415 - heavy

    with Progress() as progress:
        done = fixes.fix(paths=paths, contracts=contracts, write=write, progress=progress)
    if not write:
        print_text(done.diff())
    for line in done.lines(write=write):
        say(line)
    return done.places > 0


def main() -> NoReturn:
    """Run the command line, and exit with its status."""
    try:
        status = cli.main(standalone_mode=False, prog_name="layerguard")
    except UserError as error:
        tell_error(error)
        status = _BAD
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        say("interrupted")
        status = _INTERRUPTED
    sys.exit(status)
