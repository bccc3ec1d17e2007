"""The text of scenario files: titles, lines, comments. What a line means is scenario.py's business."""

from collections.abc import Iterator
from typing import NamedTuple

_TITLE = "scenario"


class ScenarioError(Exception):
    """A line that does not hold or cannot be read: what was expected, what came, and in which line."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(message)
        self.number = number
        self.message = message


class Line(NamedTuple):
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

    title: Line
    lines: tuple[Line, ...]


def scenarios(text: str) -> tuple[Scenario, ...]:
    """Split the text of a file.

    Raises:
        ScenarioError: A line stands before the first title, or there is no scenario.
    """
    found: list[tuple[Line, list[Line]]] = []
    for line in _lines(text):
        if line.words[0] == _TITLE:
            found.append((line, []))
        elif found:
            found[-1][1].append(line)
        else:
            raise line.error("a line `scenario TITLE` first")
    if not found:
        raise ScenarioError(1, "expected at least one scenario, got none")
    return tuple(Scenario(title, tuple(lines)) for title, lines in found)


def _lines(text: str) -> Iterator[Line]:
    for number, line in enumerate(text.split("\n"), start=1):
        if words := line.partition("#")[0].split():
            yield Line(number, tuple(words))


def number(line: Line, word: str) -> int:
    """Read a plain number.

    Raises:
        ScenarioError: It is none.
    """
    if word.isascii() and word.isdigit() and len(word) <= len("1000000"):
        return int(word)
    raise line.error("a number", word)


def words(line: Line, expected: str, count: int) -> tuple[str, ...]:
    """Return the words after the first.

    Raises:
        ScenarioError: They are not `count`.
    """
    if len(line.words) != count + 1:
        raise line.error(f"`{expected}`")
    return line.words[1:]
