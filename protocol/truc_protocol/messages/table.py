"""The table of messages: which there are, which way each goes, and what answers it.

`MESSAGES` holds one row for each tag and direction; decoding, the states of a connection, the documentation and the
tests read it.
"""

from enum import StrEnum
from typing import Final, NamedTuple

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
