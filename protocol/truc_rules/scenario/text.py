"""The text of scenario files: titles, lines, comments. runner.py knows what a line means."""

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

_TITLE = "scenario"
_SPACES = " \t\r"
# a link to a device has no end
_MAX_FILE: Final = 1 << 20


class ScenarioError(Exception):
    """A line that does not hold or cannot be read: what was expected, what came, and in which line."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(message)
        self.number = number
        self.message = message


class ScenarioLine(NamedTuple):
    """A line without its comment."""

    number: int
    words: tuple[str, ...]

    @property
    def text(self) -> str:
        """The words with single spaces."""
        return " ".join(self.words)

    def error(self, expected: str, got: str | None = None) -> ScenarioError:
        """Return the failure of this line."""
        return ScenarioError(self.number, f"expected {expected}, got {self.text if got is None else got}")


class Scenario(NamedTuple):
    """A title and the lines under it."""

    title: ScenarioLine
    lines: tuple[ScenarioLine, ...]


def read_text(path: Path) -> str:
    """Return the text of a file.

    Raises:
        OSError: It cannot be read, or is too long.
        UnicodeDecodeError: It is no text.
    """
    with path.open("rb") as file:
        content = file.read(_MAX_FILE + 1)
    if len(content) > _MAX_FILE:
        raise OSError(errno.EFBIG, f"a file of more than {_MAX_FILE} bytes", str(path))
    return content.decode("utf-8-sig")


def scenarios(text: str) -> tuple[Scenario, ...]:
    """Split the text of a file.

    Raises:
        ScenarioError: A line comes before the first title, a title has no words, a space is not a plain one, or there
            is no scenario.
    """
    found: list[tuple[ScenarioLine, list[ScenarioLine]]] = []
    for line in _lines(text):
        if line.words[0] == _TITLE:
            if len(line.words) == 1:
                raise line.error("`scenario TITLE`")
            found.append((line, []))
        elif found:
            found[-1][1].append(line)
        else:
            raise line.error("a line `scenario TITLE` first")
    if not found:
        raise ScenarioError(1, "expected at least one scenario, got none")
    return tuple(Scenario(title, tuple(lines)) for title, lines in found)


def _lines(text: str) -> Iterator[ScenarioLine]:
    for number, line in enumerate(text.split("\n"), start=1):
        said = line.partition("#")[0]
        # split() also splits at signs that look like spaces, or like nothing: a scenario has one spelling
        if strange := [sign for sign in said if sign.isspace() and sign not in _SPACES]:
            raise ScenarioError(number, f"expected plain spaces between words, got U+{ord(strange[0]):04X}")
        if words := said.split():
            yield ScenarioLine(number, tuple(words))


def is_digits(word: str) -> bool:
    """Tell whether a word consists of the digits 0 to 9, as every number and the seat of a move do."""
    return word.isascii() and word.isdigit()


def read_number(line: ScenarioLine, word: str) -> int:
    """Read a plain number, in its one spelling.

    Raises:
        ScenarioError: It is not a number, is too long, or has a leading 0.
    """
    if not (is_digits(word) and len(word) <= len("1000000")):
        raise line.error("a number", word)
    if word != str(int(word)):
        raise line.error(f"the number {int(word)} without a 0 before it", word)
    return int(word)


def arguments(line: ScenarioLine, expected: str, count: int) -> tuple[str, ...]:
    """Return the words after the first.

    Raises:
        ScenarioError: There are not exactly `count` of them.
    """
    if len(line.words) != count + 1:
        raise line.error(f"`{expected}`")
    return line.words[1:]
