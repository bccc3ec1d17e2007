"""What a scripted server shows about itself and its one table."""

from typing import Final

from msgspec.structs import replace

from truc_protocol.boxes import Option
from truc_protocol.codec import sha256
from truc_protocol.documents import rule_document
from truc_protocol.messages import (
    Choice,
    Info,
    Limits,
    OpenOptions,
    SeatState,
    TableState,
    VariantOffer,
    encode_info,
)
from truc_protocol.setup import Opts
from truc_rules import Variant

CODE: Final = "TABLE"
TOKEN: Final = "t" * 20
INFO: Final = Info(
    name="a server",
    software="scripted 1",
    # Nothing beyond the core: a client must do without (capabilities.md), and a scene adds what it is about.
    caps={},
    limits=Limits(frame_in=8192, frame_out=65536, idle_s=30, requests_per_s=10, burst=20),
    variants=(VariantOffer(name="truc-french", seats=(2,)),),
    guests=True,
    now_ms=0,
)


def info_of(variant: str, seats: int) -> bytes:
    """Return the info of a server that plays one game."""
    return encode_info(replace(INFO, variants=(VariantOffer(name=variant, seats=(seats,)),)))


def table_state(variant: Variant, opts: Opts, seats: int) -> TableState:
    """Return the state of a table at which every seat is taken and no match has begun."""
    return TableState(
        table=CODE,
        variant=variant.name,
        rules=sha256(rule_document(variant)),
        seats=tuple(SeatState(seat=seat, kind="key", name=f"player {seat}") for seat in range(seats)),
        n=seats,
        state="open",
        private=False,
        options={},
        opts=tuple(opts),
        policy=variant.reveal,
    )


def open_options(match: bytes, at: int, offer: int, options: tuple[Option, ...]) -> OpenOptions:
    """Return options as a guest is sent them."""
    choices = tuple(Choice(key=option.line, kind=option.kind, hints={}) for option in options)
    return OpenOptions(table=CODE, match=match, at=at, offer=offer, must=True, choices=choices)
