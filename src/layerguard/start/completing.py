"""Answers a shell that completes a command line, in the protocol of click, without loading click.

The shell asks with every press of the tab key. What is not answered here, click answers.
"""

from __future__ import annotations

from layerguard.start.words import ARGUMENTS, COMMANDS, OPTIONS, REPEATABLE, SCRIPTS, VALUES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Item = tuple[str, str, str]
    """What kind of completion it is, its text, and its help."""


def find_completions(question: str, environment: Mapping[str, str]) -> str | None:
    """Return what a shell is told, to be printed as it is; None where click has to say it.

    The question names the shell and what it wants.
    """
    shell, _, what = question.partition("_")
    if what == "source":
        return SCRIPTS.get(shell)
    line = _read_line(shell, environment) if what == "complete" else None
    items = None if line is None else _complete(*line)
    return None if items is None else "\n".join(_written(shell, items)) + "\n"


def _read_line(shell: str, environment: Mapping[str, str]) -> tuple[list[str], str] | None:
    """Return the words that are complete, without the program, and the one that is not."""
    words, current = _split(environment.get("COMP_WORDS")), environment.get("COMP_CWORD")
    if words is None or current is None:
        return None
    if shell in {"bash", "zsh"}:
        if not (current.isascii() and current.isdecimal()):
            return None
        place = int(current)
        return words[1:place], "".join(words[place : place + 1])
    if shell == "fish":
        parts, before = _split(current), words[1:]
        if parts is None or (current and not parts):
            return None
        word = "".join(parts[:1])
        return before[:-1] if word and before[-1:] == [word] else before, word
    return None


def _split(text: str | None) -> list[str] | None:
    """Split into words as shlex does; None for what is not that simple."""
    if text is None or not text.isascii() or any(mark in text for mark in "'\"\\"):
        return None
    for blank in "\t\r\n":
        text = text.replace(blank, " ")
    return [word for word in text.split(" ") if word]


def _complete(before: Sequence[str], word: str) -> list[Item] | None:
    """Return what a word can become behind others."""
    if not before:
        return None if "=" in word else [*_matching(COMMANDS, word), *_options("", word, ())]
    command, *rest = before
    read = _read_words(command, rest) if command in OPTIONS else None
    if read is None:
        return None
    given, arguments = read
    last = before[-1]
    if word == "=":  # some shells have it as a word of its own
        word = ""
    elif "=" in word and word.startswith("-"):
        last, _, word = word.partition("=")
        if last not in VALUES[command]:
            return None
    if word.startswith("-"):
        return list(_options(command, word, given))
    kinds = ARGUMENTS[command]
    kind = VALUES[command].get(last, kinds[min(arguments, len(kinds) - 1)])
    return list(_values(kind, word))


def _read_words(command: str, words: Iterable[str]) -> tuple[set[str], int] | None:
    """Return the options that were given, and how many arguments; None for what the command does not know."""
    given: set[str] = set()
    arguments = 0
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") or word == "-":
            arguments += 1
            continue
        name, equals, _ = word.partition("=")
        option = next((names for names in OPTIONS[command] if name in names.split()), None)
        takes_value = name in VALUES[command]
        if option is None or (equals and not takes_value):
            return None
        if takes_value and not equals and next(rest, None) is None:
            break  # its value is what is asked for, so that it is not given yet
        if option not in REPEATABLE[command]:
            given.add(option)
    return given, arguments


def _options(command: str, word: str, given: Iterable[str]) -> Iterator[Item]:
    if not word.startswith("-"):
        return
    for names, about in OPTIONS[command].items():
        if names not in given:
            yield from _matching(dict.fromkeys(names.split(), about), word)


def _values(kind: str, word: str) -> Iterable[Item]:
    kind, *choices = kind.split()
    if kind == "plain":
        return _matching(dict.fromkeys(choices, ""), word)
    return [] if kind == "nothing" else [(kind, word, "")]


def _matching(texts: Mapping[str, str], word: str) -> Iterator[Item]:
    return (("plain", text, about) for text, about in texts.items() if text.startswith(word))


def _written(shell: str, items: Iterable[Item]) -> Iterator[str]:
    """Yield the items in the form that a shell reads."""
    for kind, text, about in items:
        if shell == "zsh":
            yield f"{kind}\n{text}\n{about or '_'}"
        else:
            yield f"{kind},{text}\t{about}" if about and shell == "fish" else f"{kind},{text}"
