"""What is for one seat alone, opened and checked: options and signs, boxed for a keyed seat, in clear for a guest."""

from collections.abc import Sequence
from secrets import token_bytes
from typing import Final, NamedTuple

from truc_client.happenings import MoveChoice
from truc_client.matches.signer import Signer
from truc_protocol.acts import HeldCard, check_option
from truc_protocol.boxes import (
    NO_COUNTER,
    BoxError,
    DownwardKey,
    Option,
    SeatToSeatKey,
    UpwardKey,
    downward_key,
    open_options,
    open_sign,
    open_sign_of_seat,
    seal_sign_of_seat,
    seal_sign_up,
    seat_sign_key,
    upward_key,
)
from truc_protocol.crypto.keys import NONCE_BYTES, box_key
from truc_protocol.ledger import Ledger, box_public
from truc_protocol.messages import BoxedOptions, BoxedSignSeen, OpenOptions, OpenSignSeen
from truc_protocol.own_steps import own_options
from truc_protocol.signs import all_see_signs

_NO_OFFER: Final = 0  # what was decided since a choice, the records between tell


class Offered(NamedTuple):
    """Options as opened or found: `offer` is the position of the record that opened the decision, 0 if they were found."""

    at: int
    offer: int
    choices: tuple[MoveChoice, ...]


class FoundOptions(NamedTuple):
    """A position at which the seat finds its options by itself, and the seats for which all are told the match waits."""

    at: int
    must: bool
    deadline_ms: int | None
    awaited: tuple[int, ...]


class BoxedReader:
    """Reads the boxes of a keyed seat with its X25519 key in force; under each key the counter must rise."""

    def __init__(self, signer: Signer, seat: int) -> None:
        self._signer = signer
        self._seat = seat
        self._keys: _Keys | None = None

    def _current(self, ledger: Ledger) -> "_Keys":
        held = self._signer.chain
        if held is None:
            raise BoxError("no box can be opened: the seat's secrets are not here")
        # one exchange for each key, and not for each box: they change only with a new chain
        if self._keys is None or self._keys.x != held.x:
            shared = box_key(held.secret).exchange(ledger.setup.terms.table.x)
            place = (shared, ledger.setup.mid, self._seat)
            self._keys = _Keys(held.x, downward_key(*place), upward_key(*place))
        return self._keys

    @property
    def _after(self) -> int:
        held = self._signer.chain
        return NO_COUNTER if held is None else held.counter

    def read(
        self, message: BoxedOptions | OpenOptions | FoundOptions, ledger: Ledger, openings: Sequence[HeldCard]
    ) -> Offered:
        """Open a box and check every option in it, or find the options by the rules.

        Raises:
            BoxError: The options are in clear, the box does not open, or an option would sign something else.
        """
        if isinstance(message, FoundOptions):
            found = own_options(ledger, self._seat, openings, message.awaited)
            return Offered(message.at, _NO_OFFER, tuple(_choice(option, message.at) for option in found))
        if isinstance(message, OpenOptions):
            raise BoxError("expected options in a box, got them in clear")
        setup, place = ledger.setup, {"at": message.at, "offer": message.offer}
        key, after = self._current(ledger).downward, self._after
        # its counter rises under each key, so that options of another moment cannot be sent again
        opened = open_options(key, setup.mid, seat=self._seat, **place, box=message.box, after=after)
        # what is signed is kind and args, what a player reads is
        # the line: the server could have made one for another
        for option in opened.options:
            check_option(setup.terms.variant, self._seat, option, openings)
        self._signer.counted(opened.counter)
        return Offered(**place, choices=tuple(_choice(option, message.at) for option in opened.options))

    def read_sign(self, message: BoxedSignSeen | OpenSignSeen, ledger: Ledger) -> str:
        """Open a sign.

        Raises:
            BoxError: The sign is in clear though not meant for the whole table, or its box does not open.
        """
        if isinstance(message, OpenSignSeen):
            if not all_see_signs(ledger):
                raise BoxError("expected a sign in a box, got it in clear")
            return message.word
        # sealed from seat to seat, where the server is to learn nothing about cards
        if ledger.is_dealerless:
            between = {"sender": message.sender, "receiver": self._seat}
            of_seat = self._seat_key(ledger, message.sender, **between)
            return open_sign_of_seat(of_seat, ledger.setup.mid, **between, at=message.at, box=message.box)
        place = {"seat": self._seat, "at": message.at, "sender": message.sender}
        key, after = self._current(ledger).downward, self._after
        opened = open_sign(key, ledger.setup.mid, **place, box=message.box, after=after)
        self._signer.counted(opened.counter)
        return opened.word

    def seal_sign(self, ledger: Ledger, to: int, word: str) -> bytes:
        """Return the box of a sign of this seat."""
        nonce = token_bytes(NONCE_BYTES)
        if ledger.is_dealerless:
            between = {"sender": self._seat, "receiver": to}
            of_seat = self._seat_key(ledger, to, **between)
            return seal_sign_of_seat(
                of_seat, ledger.setup.mid, **between, at=ledger.k, nonce=nonce, word=word
            )
        place = {"seat": self._seat, "at": ledger.k, "to": to}
        return seal_sign_up(self._current(ledger).upward, ledger.setup.mid, **place, nonce=nonce, word=word)

    def _seat_key(self, ledger: Ledger, other: int, *, sender: int, receiver: int) -> SeatToSeatKey:
        """Return the key of signs between this seat and another, whose every X25519 key is in the records."""
        held, public = self._signer.chain, box_public(ledger, other) if other < ledger.seats else None
        if held is None or public is None:
            raise BoxError(
                "no sign can be sealed or opened: the seat's secrets are not here, or no such seat"
            )
        shared = box_key(held.secret).exchange(public)
        return seat_sign_key(shared, ledger.setup.mid, sender=sender, receiver=receiver)


class _Keys(NamedTuple):
    """The keys derived from one X25519 key of the seat; `x` is its public half."""

    x: bytes
    downward: DownwardKey
    upward: UpwardKey

    def __repr__(self) -> str:
        return "_Keys(hidden)"


def _choice(option: Option, at: int) -> MoveChoice:
    return MoveChoice(option.line, option.kind, dict(option.hints), option.args, at)


class ClearReader:
    """Reads the options and signs of a guest, which come in clear."""

    def read(
        self,
        message: BoxedOptions | OpenOptions | FoundOptions,
        _ledger: Ledger,
        openings: Sequence[HeldCard],
    ) -> Offered:
        """Return the options.

        Raises:
            BoxError: They are in a box, for which this guest never gave a key.
        """
        if not isinstance(message, OpenOptions):
            raise BoxError("expected options in clear, got a box")
        choices = tuple(
            MoveChoice(option.key, option.kind, option.hints, None, message.at) for option in message.choices
        )
        return Offered(message.at, message.offer, choices)

    def read_sign(self, message: BoxedSignSeen | OpenSignSeen, _ledger: Ledger) -> str:
        """Return the word signed.

        Raises:
            BoxError: It is in a box, for which this guest never gave a key.
        """
        if isinstance(message, BoxedSignSeen):
            raise BoxError("expected a sign in clear, got a box")
        return message.word

    def seal_sign(self, _ledger: Ledger, _to: int, _word: str) -> None:
        """Return None: a guest's sign goes in clear."""
        return


OfferReader = BoxedReader | ClearReader
