"""Makes `layerguard.start.words` of what click says: `python tests/generated_start.py` writes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import get_completion_class

from layerguard.cli import cli
from layerguard.start import ASKED_BY_SHELL

if TYPE_CHECKING:
    from collections.abc import Iterator

PLACE = Path(__file__).parent.parent / "src/layerguard/start/words.py"
WIDTHS = (80, 100)
"""The widths of a terminal for which there are texts."""
SHELLS = ("fish", "zsh")
"""The shells that are told the same everywhere: of bash, click looks up which one there is."""

_HEAD = '''\
"""What click says of the commands: made by `python tests/generated_start.py`."""

from __future__ import annotations
'''
_TEXTS = "dict[str, dict[str, str]]"
_LISTS = "dict[str, list[str]]"


def made_anew() -> str:
    """Return the text of the module as click would have it now."""
    return _HEAD + "".join(
        f'\n{name}: {kind} = {_written(value, "")}\n"""{about}"""\n' for name, kind, value, about in _parts()
    )


def _parts() -> Iterator[tuple[str, str, object, str]]:
    """Yield each part of the module: its name, its type, its value, and what it is."""
    names = cli.list_commands(_context(80))
    commands: dict[str, click.Command] = {"": cli, **{name: cli.commands[name] for name in names}}
    options = {name: list(_options(command)) for name, command in commands.items()}
    yield (
        "HELP",
        "dict[str, dict[int, str]]",
        {name: {width: _help(name, width) for width in WIDTHS} for name in commands},
        "The help of each command (without a name, of the program), by the width of the terminal.",
    )
    yield (
        "COMMANDS",
        "dict[str, str]",
        {name: commands[name].get_short_help_str() for name in names if not commands[name].hidden},
        "The commands that are offered, each in one line.",
    )
    yield (
        "OPTIONS",
        _TEXTS,
        {name: {_names(each): each.help or "" for each in found} for name, found in options.items()},
        "The options of each command with their help; one with several names has them in one text.",
    )
    yield (
        "REPEATABLE",
        _LISTS,
        {name: [_names(each) for each in found if each.multiple] for name, found in options.items()},
        "The options of each command that are offered again where they were given.",
    )
    values = {
        name: {text: _kind(each) for each in found if not each.is_flag for text in each.opts}
        for name, found in options.items()
    }
    yield (
        "VALUES",
        _TEXTS,
        values,
        "What is offered as the value of each option that takes one: nothing, a file, a dir, or plain words.",
    )
    yield (
        "ARGUMENTS",
        _LISTS,
        {name: list(_arguments(command)) for name, command in commands.items()},
        "The same of the arguments of each command; the last is for all that follow.",
    )
    scripts = {shell: _script(shell) for shell in SHELLS}
    yield "SCRIPTS", "dict[str, str]", scripts, "What each shell runs, so that it asks from then on."


def _context(width: int) -> click.Context:
    return cli.make_context("layerguard", [], resilient_parsing=True, terminal_width=width - 2)


def _help(name: str, width: int) -> str:
    top = _context(width)
    if not name:
        return f"{cli.get_help(top)}\n"
    command = cli.commands[name]
    return f"{command.get_help(command.make_context(name, [], parent=top, resilient_parsing=True))}\n"


def _options(command: click.Command) -> Iterator[click.Option]:
    for each in command.get_params(click.Context(command, parent=_context(80))):
        if isinstance(each, click.Option) and not each.hidden:
            yield each


def _names(option: click.Option) -> str:
    return " ".join([*option.opts, *option.secondary_opts])


def _arguments(command: click.Command) -> Iterator[str]:
    """Yield what is offered as each argument, and then as all that follow."""
    for each in command.params:
        if isinstance(each, click.Argument):
            yield _kind(each)
            if each.nargs < 0:
                return
    yield "nothing"


def _kind(parameter: click.Parameter) -> str:
    """Return what is offered as a value, in one text."""
    items = parameter.type.shell_complete(click.Context(cli), parameter, "")
    kinds = {each.type for each in items} or {"nothing"}
    return " ".join([*kinds, *(each.value for each in items if each.value)])


def _script(shell: str) -> str:
    kind = get_completion_class(shell)
    assert kind
    return kind(cli, {}, "layerguard", ASKED_BY_SHELL).source()


def _written(value: object, indent: str) -> str:
    """Return a value as it is written in Python, one entry a line."""
    if isinstance(value, dict):
        inner = f"{indent}    "
        lines = [f"{inner}{_written(key, inner)}: {_written(each, inner)},\n" for key, each in value.items()]
        return f"{{\n{''.join(lines)}{indent}}}" if lines else "{}"
    if isinstance(value, str) and "\n" in value:
        return '"""\\\n' + value.replace("\\", "\\\\").replace('"""', '\\"""') + '"""'
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    PLACE.write_text(made_anew(), encoding="utf-8")
