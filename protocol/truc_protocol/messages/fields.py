"""The types of message fields: what each may hold, with its bounds, said once.

The bounds are those of the wire. Whether a value makes sense at a table is for the table to judge.
"""

from collections.abc import Mapping
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from truc_protocol.bodies import Hash, U

CHAT_LENGTH: Final = 200
"""The most characters of a line of chat."""

RequestId = Annotated[int, Meta(ge=0, le=2**32 - 1)]
ProtocolNumber = Annotated[int, Meta(ge=1, le=65_535)]
ProtocolNumbers = Annotated[tuple[ProtocolNumber, ...], Meta(min_length=1, max_length=16)]
SeatNumber = Annotated[int, Meta(ge=0, le=15)]
RoleNumber = Annotated[int, Meta(ge=0, le=16)]  # 0 the server, i + 1 seat i
RecordPosition = Annotated[int, Meta(ge=-1, le=2**53 - 1)]  # -1: from the setup on
Signature = Annotated[bytes, Meta(min_length=64, max_length=64)]
Token = Annotated[str, Meta(min_length=16, max_length=128)]
TableCode = Annotated[str, Meta(min_length=1, max_length=32)]
Word = Annotated[str, Meta(min_length=1, max_length=64)]
# in characters; a server also holds names to 64 bytes (limits.md, "Names")
Name = Annotated[str, Meta(min_length=1, max_length=64)]
PlayerTag = Annotated[str, Meta(min_length=1, max_length=32)]
WebOrigin = Annotated[str, Meta(min_length=8, max_length=260, pattern=r"^https?://[a-z0-9._:\[\]-]+$")]
InviteText = Annotated[str, Meta(min_length=8, max_length=64)]
ChatText = Annotated[str, Meta(min_length=1, max_length=CHAT_LENGTH)]
MoveLine = Annotated[str, Meta(min_length=1, max_length=64)]
CapabilityNames = Annotated[tuple[Word, ...], Meta(max_length=32)]
TableOptions = Annotated[dict[Word, int | Word], Meta(max_length=32)]
OptsArray = Annotated[tuple[U, ...], Meta(max_length=10)]
Hints = dict[Word, int | Word]
Map = Mapping[str, object]
Roll = tuple[bytes, Signature, Signature]
Rolls = Annotated[tuple[Roll, ...], Meta(max_length=8)]


class Message(msgspec.Struct, frozen=True, kw_only=True, tag_field="t", omit_defaults=True):
    """A message on the wire: a map whose `t` names its kind."""


class Request(Message, frozen=True, kw_only=True):
    """A message that gets exactly one reply."""

    id: RequestId
    """The client's number for this request; no other request that still waits for its reply may have it."""


class TableRequest(Request, frozen=True, kw_only=True):
    """A request about a table."""

    table: TableCode
    """The table's code."""


class MatchRequest(TableRequest, frozen=True, kw_only=True):
    """A request about a match at a table."""

    match: Hash
    """The match id."""


class TableNotice(Message, frozen=True, kw_only=True):
    """What a server says of a table."""

    table: TableCode
    """The table's code."""


class MatchNotice(TableNotice, frozen=True, kw_only=True):
    """What a server says of a match at a table."""

    match: Hash
    """The match id."""
