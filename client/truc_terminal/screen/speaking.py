"""Typed lines that are not moves: talk, and a claim; what goes wrong is told in the player's language."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from truc_client.errors import ChoiceError, ClientError, RefusedError
from truc_client.table import Table
from truc_protocol.errors import Code
from truc_protocol.messages.fields import CHAT_LENGTH
from truc_terminal.screen.drawing import sign_of
from truc_terminal.screen.explaining import word_expected
from truc_terminal.screen.questions import CHAT
from truc_terminal.screen.screen import Screen
from truc_words import Speech, command_line, time_label, typed_word

_SIGN: Final = "sign"
_SAY: Final = "say"
_ASKS: Final = "?"
_HELP: Final = ("h", "help")
_SUBJECTS: Final = ("table", "rules")
TALK: Final = (_SIGN, _SAY, CHAT)
SHORT: Final[Mapping[str, str]] = MappingProxyType({"'": CHAT, "!": _SAY, "*": _SIGN})
"""What a mark at the beginning of a line stands for."""


def spelled(line: str, speech: Speech) -> str:
    """Return a line with its command, which may be a mark or a word of the player's language, in English."""
    kind = SHORT.get(line[:1])
    return command_line(line, speech) if kind is None else f"{kind} {line[1:].lstrip()}"


def asked_about(line: str) -> str | None:
    """Return what a line asks to be explained, empty if it is everything; None if it asks for nothing."""
    command, _, subject = line.partition(" ")
    if line.startswith(_ASKS):
        return line.removeprefix(_ASKS)
    if command.lower() in _HELP:
        return subject
    return line if line.lower() in _SUBJECTS else None


async def talk(table: Table, screen: Screen, line: str) -> None:
    """Sign or say what a line asks for, and tell what came of it."""
    kind, _, rest = line.partition(" ")
    word = rest.strip().lower()
    try:
        if kind.lower() == CHAT and not word:
            screen.note("explain_end")
        elif kind.lower() == CHAT:
            await _chat(table, screen, rest.strip())
        elif kind.lower() == _SIGN:
            await _sign(table, screen, word)
        else:
            await _say(table, screen, word)
    except RefusedError as error:
        if error.code == Code.MUTED:
            screen.note("muted", "red")
        else:
            screen.say(str(error), "red")
    except ClientError as error:
        screen.say(str(error), "red")


async def claim(table: Table, screen: Screen) -> None:
    """Ask to end a match that the other side has left, and say so if it is too early."""
    try:
        await table.claim()
    except RefusedError as error:
        if error.code == Code.NOT_NOW and error.retry_after_ms is not None:
            screen.note("claim_early", "red", time=time_label(error.retry_after_ms / 1000))
        else:
            screen.say(str(error), "red")
    except ClientError as error:
        screen.say(str(error), "red")


async def _chat(table: Table, screen: Screen, text: str) -> None:
    if len(text) > CHAT_LENGTH:
        screen.note("chat_too_long", "red", most=CHAT_LENGTH, n=len(text))
    else:
        await table.chat(text)


async def _sign(table: Table, screen: Screen, text: str) -> None:
    setting = screen.setting
    word = typed_word(text, setting.signs, "sign", setting.speech) if screen.knows_game else text
    if word is None:
        screen.say(word_expected(text, setting.signs, "sign", setting.speech), "red")
        return
    try:
        await table.sign(word)
    except ChoiceError:
        screen.note("nobody_sees", "red")
    except RefusedError as error:
        if error.code != Code.ILLEGAL_ACTION:
            raise
        screen.note("cannot_sign", "red", sign=sign_of(word, setting))
    else:
        screen.note("you_sign", "magenta", sign=sign_of(word, setting))


async def _say(table: Table, screen: Screen, text: str) -> None:
    setting = screen.setting
    phrase = typed_word(text, setting.phrases, "phrase", setting.speech) if screen.knows_game else text
    if phrase is None:
        screen.say(word_expected(text, setting.phrases, "phrase", setting.speech), "red")
    else:
        await table.say(phrase)
