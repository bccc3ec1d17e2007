"""The table of messages, and how messages become bytes and bytes messages.

`MESSAGES` holds one row for each tag and direction; decoding, the states of a connection, the documentation and the
tests read it. Unknown fields are ignored, nil and absent mean the same, and everything else that does not fit is an
error that names the field.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

import msgspec

from truc_protocol.codec import EncodingError, unpack, write
from truc_protocol.errors import Code, RemoteError
from truc_protocol.messages import answers, history, notices, requests, social
from truc_protocol.messages.fields import Message

ClientMessage = (
    requests.ClientHello
    | requests.KeyLogin
    | requests.GuestLogin
    | requests.GuestReturn
    | requests.ListTables
    | requests.ReadRules
    | requests.Create
    | requests.Join
    | requests.Leave
    | requests.Ready
    | requests.Unready
    | requests.SignedAct
    | requests.GuestAct
    | requests.BoxedSign
    | requests.OpenSign
    | requests.Say
    | requests.ClaimMatch
    | requests.WantRekey
    | requests.Resume
    | requests.Watch
    | requests.Unwatch
    | history.History
    | history.ListMatches
    | social.FollowLobby
    | social.ListPlayers
    | social.Seek
    | social.Chat
    | social.Ignore
    | social.Forget
    | social.Moderate
    | history.Leaderboard
    | history.Profile
    | notices.Ping
    | notices.Pong
)
ServerMessage = (
    answers.ServerHello
    | answers.Welcome
    | answers.Ok
    | answers.Refusal
    | answers.Bye
    | notices.TableState
    | notices.TableClosed
    | notices.Terms
    | notices.Setup
    | notices.MatchRecord
    | notices.BoxedOptions
    | notices.OpenOptions
    | notices.OwnCards
    | notices.Waiting
    | notices.Away
    | notices.BoxedSignSeen
    | notices.OpenSignSeen
    | notices.Said
    | notices.SeatTakenOver
    | notices.Capabilities
    | notices.Draining
    | notices.HostSays
    | history.Snapshot
    | social.LobbyState
    | social.BotWanted
    | social.PlayersWanted
    | social.ChatLine
    | notices.Ping
    | notices.Pong
)
AnyMessage = ClientMessage | ServerMessage


class Direction(StrEnum):
    """Which way a message goes."""

    TO_SERVER = "client to server"
    TO_CLIENT = "server to client"

    __hash__ = str.__hash__  # that of Enum is a function of Python's own, called for every message


class MessageError(RemoteError):
    """A frame that is not a message; `re` is its request id if that could be read."""


class Form(NamedTuple):
    """A shape a message can have; `mark` is the field that tells it apart from the other shapes of its tag."""

    message: type[AnyMessage]
    mark: str | None = None


class MessageRow(NamedTuple):
    """One message: `replies` are the tags that answer it, besides `error`."""

    direction: Direction
    forms: tuple[Form, ...]
    replies: tuple[str, ...] = ()

    @property
    def tag(self) -> str:
        """The value of `t`."""
        return tag_of(self.forms[0].message)


_IN, _OUT = Direction.TO_SERVER, Direction.TO_CLIENT


def tag_of(message: Message | type[Message]) -> str:
    """Return the `t` of a message or of its class."""
    return str(message.__struct_config__.tag)


MESSAGES: Final[tuple[MessageRow, ...]] = (
    MessageRow(_IN, (Form(requests.ClientHello),), ("hello",)),
    MessageRow(_OUT, (Form(answers.ServerHello),)),
    MessageRow(
        _IN,
        (Form(requests.KeyLogin, "body"), Form(requests.GuestReturn, "token"), Form(requests.GuestLogin)),
        ("welcome",),
    ),
    MessageRow(_OUT, (Form(answers.Welcome),)),
    MessageRow(_OUT, (Form(answers.Ok),)),
    MessageRow(_OUT, (Form(answers.Refusal),)),
    MessageRow(_OUT, (Form(answers.Bye),)),
    MessageRow(_IN, (Form(requests.ListTables),), ("ok",)),
    MessageRow(_IN, (Form(requests.ReadRules),), ("ok",)),
    MessageRow(_IN, (Form(requests.Create),), ("ok",)),
    MessageRow(_IN, (Form(requests.Join),), ("ok",)),
    MessageRow(_IN, (Form(requests.Leave),), ("ok",)),
    MessageRow(_IN, (Form(requests.Ready),), ("ok",)),
    MessageRow(_IN, (Form(requests.Unready),), ("ok",)),
    MessageRow(_OUT, (Form(notices.TableState),)),
    MessageRow(_OUT, (Form(notices.TableClosed),)),
    MessageRow(_OUT, (Form(notices.Terms),)),
    MessageRow(_OUT, (Form(notices.Setup),)),
    MessageRow(_OUT, (Form(notices.MatchRecord),)),
    MessageRow(_OUT, (Form(notices.BoxedOptions, "box"), Form(notices.OpenOptions))),
    MessageRow(_OUT, (Form(notices.OwnCards),)),
    MessageRow(_OUT, (Form(notices.Waiting),)),
    MessageRow(_OUT, (Form(notices.Away),)),
    MessageRow(_IN, (Form(requests.SignedAct, "body"), Form(requests.GuestAct)), ("ok",)),
    MessageRow(_IN, (Form(requests.BoxedSign, "box"), Form(requests.OpenSign)), ("ok",)),
    MessageRow(_OUT, (Form(notices.BoxedSignSeen, "box"), Form(notices.OpenSignSeen))),
    MessageRow(_IN, (Form(requests.Say),), ("ok",)),
    MessageRow(_IN, (Form(requests.ClaimMatch),), ("ok",)),
    MessageRow(_IN, (Form(requests.WantRekey),), ("ok",)),
    MessageRow(_OUT, (Form(notices.Said),)),
    MessageRow(_IN, (Form(requests.Resume),), ("ok",)),
    MessageRow(_IN, (Form(requests.Watch),), ("ok",)),
    MessageRow(_IN, (Form(requests.Unwatch),), ("ok",)),
    MessageRow(_OUT, (Form(notices.SeatTakenOver),)),
    MessageRow(_OUT, (Form(history.Snapshot),)),
    MessageRow(_IN, (Form(history.History),), ("ok",)),
    MessageRow(_IN, (Form(history.ListMatches),), ("ok",)),
    MessageRow(_IN, (Form(social.FollowLobby),), ("ok",)),
    MessageRow(_OUT, (Form(social.LobbyState),)),
    MessageRow(_IN, (Form(social.ListPlayers),), ("ok",)),
    MessageRow(_IN, (Form(social.Seek),), ("ok",)),
    MessageRow(_OUT, (Form(social.BotWanted),)),
    MessageRow(_OUT, (Form(social.PlayersWanted),)),
    MessageRow(_IN, (Form(social.Chat),), ("ok",)),
    MessageRow(_OUT, (Form(social.ChatLine),)),
    MessageRow(_IN, (Form(social.Ignore),), ("ok",)),
    MessageRow(_IN, (Form(social.Forget),), ("ok",)),
    MessageRow(_IN, (Form(social.Moderate),), ("ok",)),
    MessageRow(_IN, (Form(history.Leaderboard),), ("ok",)),
    MessageRow(_IN, (Form(history.Profile),), ("ok",)),
    MessageRow(_OUT, (Form(notices.Capabilities),)),
    MessageRow(_OUT, (Form(notices.Draining),)),
    MessageRow(_OUT, (Form(notices.HostSays),)),
    MessageRow(_IN, (Form(notices.Ping),), ("pong",)),
    MessageRow(_IN, (Form(notices.Pong),)),
    MessageRow(_OUT, (Form(notices.Ping),), ("pong",)),
    MessageRow(_OUT, (Form(notices.Pong),)),
)
_ROWS: Final[Mapping[Direction, Mapping[str, MessageRow]]] = {
    direction: {row.tag: row for row in MESSAGES if row.direction is direction} for direction in Direction
}
_ACT: Final = write({"t": "act"})[1:]
_SIGNED_ACT: Final = msgspec.msgpack.Decoder(requests.SignedAct)
_GUEST_ACT: Final = msgspec.msgpack.Decoder(requests.GuestAct)
_PLACE: Final = re.compile(r" - at (?:`key` in )?`\$\.?(?P<path>[^`]*)`$")
_MISSING: Final = re.compile(r"missing required field `(?P<name>[^`]+)`")
_LARGEST_ID: Final = 2**32 - 1


def row_of(direction: Direction, tag: str) -> MessageRow | None:
    """Return the row of a tag in one direction, or None if there is no such message."""
    return _ROWS[direction].get(tag)


def encode(message: AnyMessage) -> bytes:
    """Return the bytes of a message, without the optional fields that are not set."""
    # msgspec writes the long header of a map that may have more than 15 fields even if most are left out
    if type(message) is notices.TableState or (type(message) is answers.Ok and message.tables):
        return write(msgspec.to_builtins(message, builtin_types=(bytes,)))
    return write(message)


def decode(frame: bytes, direction: Direction) -> AnyMessage:
    """Read one message.

    Raises:
        MessageError: bad_msgpack, unknown_request, or bad_message with the field.
    """
    if frame[1:7] == _ACT and direction is _IN:
        act = _usual_act(frame)
        if act is not None:
            return act
    try:
        fields = unpack(frame)
    except EncodingError as error:
        raise MessageError(Code.BAD_MSGPACK, str(error)) from error
    if None in fields.values():
        fields = {name: value for name, value in fields.items() if value is not None}
    form = _form(fields, direction)
    try:
        return msgspec.convert(fields, form.message, builtin_types=(bytes,))
    except msgspec.ValidationError as error:
        raise _explained(error, fields) from error


def _usual_act(frame: bytes) -> requests.SignedAct | requests.GuestAct | None:
    """Return an act that is written as our own clients write it; None of anything else, which is looked at field by field.

    What gives the very same bytes again holds nothing but the fields of its class, each once and in its shortest form.
    It takes a third of the time, and nearly everything that comes is an act.
    """
    try:
        act = (_SIGNED_ACT if b"\xa4body" in frame else _GUEST_ACT).decode(frame)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return act if write(act) == frame else None


def _request_id(fields: Mapping[str, object]) -> int | None:
    request = fields.get("id")
    return request if type(request) is int and 0 <= request <= _LARGEST_ID else None


def _form(fields: Mapping[str, object], direction: Direction) -> Form:
    match fields:
        case {"t": str(tag)}:
            pass
        case _:
            expected = "expected the message's name, a str, in `t`"
            raise MessageError(Code.BAD_MESSAGE, expected, field="t", re=_request_id(fields))
    rows = _ROWS[direction]
    if tag not in rows:
        known = "a message that goes from " + direction.value
        raise MessageError(
            Code.UNKNOWN_REQUEST, f"expected {known}, got {tag[:64]!r}", field="t", re=_request_id(fields)
        )
    *others, last = rows[tag].forms
    for form in others:
        if form.mark in fields:
            return form
    return last


def _explained(error: msgspec.ValidationError, fields: Mapping[str, object]) -> MessageError:
    text = str(error)
    found = _PLACE.search(text)
    steps = _steps(found["path"]) if found else []
    said = _PLACE.sub("", text)
    missing = _MISSING.search(said)
    if missing:
        steps.append(missing["name"])
        said = "expected this field, got none"
    elif not said.startswith("Invalid") and "got" not in said and found and "`key`" not in found[0]:
        said += f", got {_came(fields, steps)}"
    place = "/".join(steps)
    said = said[0].lower() + said[1:]
    return MessageError(Code.BAD_MESSAGE, f"{place}: {said}", field=place, re=_request_id(fields))


def _steps(path: str) -> list[str]:
    """Split msgspec's `seats[0].name` into its steps; `[...]` stands for any key of a map."""
    return [
        step for step in path.replace("[...]", ".*").replace("[", ".").replace("]", "").split(".") if step
    ]


def _came(fields: object, steps: list[str]) -> str:
    """Describe the value at `steps` without showing what may be secret."""
    value = fields
    for step in steps:
        match value:
            case dict() if step in value:
                value = value[step]
            case list() if step.isdigit():
                value = value[int(step)]
            case _:
                return "another"
    match value:
        case str() | bytes() | list() | dict():
            return f"length {len(value)}"
        case _:
            return repr(value)
