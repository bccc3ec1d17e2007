"""No English stands in the code that speaks to players: what they read is a sentence of the catalogues, and each is said somewhere."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

from rows import each_row

import truc_protocol
from truc_client import errors
from truc_terminal.commands.tables import TableLine
from truc_words import catalogue
from truc_words.catalogue import Catalogue

ROOT = Path(errors.__file__).parents[1]
"""The folder of the client's packages."""
PROTOCOL = Path(truc_protocol.__file__).parents[1]
PACKAGES = ("truc_client", "truc_terminal")
SPEAKING = ("truc_client", "truc_terminal", "truc_terminal/commands", "truc_terminal/screen")
TOLD_OTHERWISE = {
    *(
        f"truc_terminal/commands/{name}.py"
        for name in ("replay", "report", "history", "ratings", "show", "verify")
    ),
    "truc_terminal/screen/replaying.py",
}
"""Modules whose texts are not of these catalogues."""
SAYS = {
    *("echo", "say", "print", "tell", "notice"),
    *("FailedError", "UnusableError", "UsageError", "BadParameter", "usage_error"),
    *(name for name in vars(errors) if name.endswith("Error")),
}
"""What is called with what a player reads."""
FOR_PROGRAMS = {
    "CheckFailedError": "what a check found is evidence, and told in English around the world",
    "UnboundError": "the same",
}
LINES_FOR_PROGRAMS = {
    "truc_terminal/commands/bot.py": ["table "],
    "truc_terminal/commands/house_bot.py": ["key ", "called  seat  ", "over  "],
    "truc_terminal/commands/output.py": ["truc: "],
}
"""What a program reads that started the command: words that never change."""
_WORD = re.compile("[A-Za-z]{2,}")
OWN_PARTS = ("asked", "connecting", "closed", "commands", "listing", "verdict", "failures")


def modules() -> list[Path]:
    return [path for folder in SPEAKING for path in sorted((ROOT / folder).glob("*.py"))]


def sources() -> list[Path]:
    return [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """Yield every call of a module with the name of what is called."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Call(func=ast.Name(id=called)) | ast.Call(func=ast.Attribute(attr=called)):
                yield called, node
            case _:
                pass


def written(node: ast.expr) -> str:
    """Return what stands in the code of a text; nothing of what it fills in."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(written(part) for part in parts)
        case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other):
            return written(one) + written(other)
        case _:
            return ""


def english(path: Path) -> list[str]:
    """Return the texts that a module says in English."""
    said = [
        written(argument)
        for called, call in calls(path)
        if called in SAYS - FOR_PROGRAMS.keys() and not is_of_catalogue(called, call)
        for argument in call.args
    ]
    return [text for text in said if _WORD.search(text) and not is_style(text)]


def is_of_catalogue(called: str, call: ast.Call) -> bool:
    """Tell whether a call names a text of the catalogues: `speech.say("verdict.winner")`."""
    return (
        called == "say"
        and bool(call.args)
        and written(call.args[0]).partition(".")[0] in Catalogue.__struct_fields__
    )


def is_style(text: str) -> bool:
    """Tell whether a text is the style of what is printed."""
    return text in ("bold", "dim", "red", "yellow", "green", "cyan", "magenta", "italic")


@each_row("path", modules())
def test_module_says_nothing_in_english(path) -> None:
    if name_of(path) not in TOLD_OTHERWISE:
        assert english(path) == LINES_FOR_PROGRAMS.get(name_of(path), [])


def test_english_that_is_said_is_found(tmp_path) -> None:
    path = tmp_path / "module.py"
    path.write_text(
        'screen.say(f"{n} cards", "bold")\n'
        'click.echo("a" if n else f"no {what}")\n'
        'raise FailedError("cannot " + name) from error\n'
        'screen.say(f"  {told}")\n'
        'speech.say("verdict.winner")\n'
        'raise LostError(Sentence("failures.silent", n=1))\n'
    )
    assert english(path) == [" cards", "ano ", "cannot "]


def keys() -> set[str]:
    """Return every key of a sentence that stands in the code."""
    pattern = re.compile("[\"'](" + "|".join(OWN_PARTS) + r")\.([a-z_]+)")
    files = [*sources(), *PROTOCOL.glob("truc_protocol/**/*.py"), *PROTOCOL.glob("truc_words/**/*.py")]
    return {f"{part}.{name}" for path in files for part, name in pattern.findall(path.read_text("utf-8"))}


def made_up(key: str) -> bool:
    """Tell whether a key is put together where it is used."""
    starts = ("closed.", "listing.state_", "verdict.entropy_")
    columns = {f"listing.{name}" for name in TableLine._fields}
    return key.startswith(starts) or key in columns


def known() -> set[str]:
    return {f"{part}.{name}" for part in OWN_PARTS for name in getattr(catalogue("en"), part)}


def test_every_sentence_said_is_in_the_catalogues() -> None:
    assert {key for key in keys() if not key.endswith("_")} - known() - {"closed."} == set()


def test_every_sentence_of_the_catalogues_is_said() -> None:
    assert {key for key in known() - keys() if not made_up(key)} == set()


def sentences() -> Iterator[tuple[str, ast.Call]]:
    """Yield every sentence whose key stands in the code, with all that it is given by name."""
    for path in sources():
        for called, call in calls(path):
            is_key = bool(call.args) and isinstance(call.args[0], ast.Constant)
            if (
                called in ("Sentence", "say")
                and is_key
                and not any(each.arg is None for each in call.keywords)
            ):
                yield written(call.args[0]), call


def test_every_sentence_is_given_what_it_fills_in() -> None:
    wrong, found = [], 0
    for key, call in sentences():
        part, _, name = key.partition(".")
        if part not in Catalogue.__struct_fields__:
            continue
        fields = {
            field for _, field, _, _ in Formatter().parse(getattr(catalogue("en"), part)[name]) if field
        }
        given, found = {str(each.arg) for each in call.keywords}, found + 1
        wrong += [(key, fields, given)] * (fields != given)
    assert wrong == []
    assert found > 100
