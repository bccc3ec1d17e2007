"""The raw client and the player of the conformance kit, as the tests of the server use them."""

from truc_conform.expectations import GoneError, Map, UnexpectedError
from truc_conform.raw_client import RawClient, frame, length
from truc_conform.raw_seat import RawSeat, bodies, is_rash

__all__ = [
    "GoneError",
    "Map",
    "RawClient",
    "RawSeat",
    "UnexpectedError",
    "bodies",
    "frame",
    "is_rash",
    "length",
]
