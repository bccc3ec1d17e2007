"""What a stage writes down about a client, and what the client's messages are about."""

from typing import NamedTuple

from truc_protocol.codec import EncodingError, dec
from truc_protocol.messages import ClientMessage, GuestAct, SignedAct

AnyAct = SignedAct | GuestAct


class Fault(NamedTuple):
    """Something that the client did wrong: under which code, and in words."""

    code: str
    message: str


class Heard(NamedTuple):
    """A message of the client: on which connection, and after how many messages of the server."""

    link: int
    sent: int
    message: ClientMessage


def subject(message: ClientMessage) -> str:
    """Name what a message is about, for the cases that judge it."""
    match message:
        case SignedAct(match=None):
            return "seat"
        case SignedAct(body=body):
            return tag_of_body(body)
        case _:
            return type(message).__name__


def tag_of_body(body: bytes) -> str:
    """Return the kind that a body says it is; "" if it says none."""
    try:
        tag = dec(body)[0]
    except (EncodingError, IndexError, TypeError):
        return ""
    return tag.removeprefix("truc/1/") if isinstance(tag, str) else ""
