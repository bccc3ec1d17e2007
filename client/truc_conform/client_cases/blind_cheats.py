"""The planted cheats of level C5, at tables whose host sees no card: of the server, and of the seat that deals with the client.

After one that a check of the records shows, the client must sign nothing for a later position, and its program must end
with an exit code other than 0. One that only the other seat's link shows is no failed check: the client opens its own
link, takes the forfeit, and plays the match to its end.
"""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from truc_conform.blind_seat import (
    StepCheat,
    in_another_order,
    in_short_boxes,
    in_shut_boxes,
    only,
    reordered,
    too_short,
    unsound,
    with_one_twice,
)
from truc_conform.blind_server import BlindHarness
from truc_conform.client_cases.blind import FOUR, BlindArrange, at_blind_table, signed_steps
from truc_conform.client_cases.cheats import DUTIES, stops
from truc_conform.client_harness import ClientHarness
from truc_conform.expectations import require
from truc_conform.forging import (
    Bend,
    Maker,
    RewriteBend,
    bending,
    body_of,
    changing,
    changing_records,
    deal_body,
    note_cheat,
    place_of,
    put_instead,
    signed_again,
)
from truc_conform.playing import conceding, secret, signed_position
from truc_conform.result import tag_of_body
from truc_conform.scenes import ClientExit, Scene, finishes
from truc_protocol import messages
from truc_protocol.blind_mode.sealed_pack import KeysStep, LockStep, MaskStep, SeatStep
from truc_protocol.bodies import Body, Deal, Keys, Release, Rule, Void
from truc_protocol.ledger import Due, due
from truc_protocol.own_steps import garbled_body
from truc_protocol.records import DEALT, Record, parse

_CHECKS: Final = "../fairness/blind.md#checks"
_OPENING: Final = "../fairness/blind.md#records"
_SEAT: Final = 1
_ROLE: Final = 2  # of that seat


def _cheat(name: str, what: str) -> Callable[[BlindArrange], Scene]:
    """Make a scene of a lie that a check of the records shows."""
    return at_blind_table(name, _CHECKS, f"stops at {what}", stops)


def _rewriting(kind: type[Body], maker: Maker) -> BlindArrange:
    """Return a cheat that puts another record in the place of the first of its kind in the first hand."""
    return bending(lambda server: RewriteBend(server, kind, 1, maker))


@at_blind_table(
    "C5.cheat-mode", DUTIES, "stops at terms by which the host deals, at a table shown otherwise (C9)", stops
)
@changing(messages.Terms)
def _dealt_by_the_host(server: ClientHarness, message: messages.Terms) -> messages.Terms:
    """Offer a match in which the host sees every card."""
    # Signed and sound: nothing but the notice `table` shows that another mode was agreed to.
    return replace(message, record=server.table_record(mode=DEALT))


@_cheat("C5.cheat-places", "a deal of other places than were locked (C47)")
@changing_records("deal")
def _other_places(server: ClientHarness, message: messages.MatchRecord) -> messages.MatchRecord:
    """Exchange the leaves of the two seats."""
    return signed_again(server, message, leaves=tuple(reversed(body_of(message).leaves)))


_SERVERS: Final = [
    _cheat("C5.cheat-forfeit", "a forfeit of a seat that owes nothing (C22)")(
        _rewriting(Deal, lambda place, body: Rule(*place, body.j, "forfeit", 0, "opening", ()))
    ),
    _cheat("C5.cheat-unkeyed", "a deal before all keys are in (C15)")(
        _rewriting(Keys, lambda place, body: deal_body(place, body.j))
    ),
    _cheat("C5.cheat-void", "a void when all locks are in (C26)")(
        _rewriting(Deal, lambda place, body: Void(*place, body.j, "silent", (0,), None))
    ),
]


@_cheat("C5.cheat-second-mask", "a second mask of the other seat for a position it has (C34)")
def _second_mask(server: BlindHarness) -> None:
    """When the client locks, show it the other seat's mask once more, with the cards in another order."""

    async def intercept(message: messages.ClientMessage) -> bool:
        if isinstance(message, messages.SignedAct) and server.cheated_at is None:
            masks = (each for each in _sent(server) if _is_by_seat(each, "mask"))
            honest = next(masks, None) if tag_of_body(message.body) == "lock" else None
            if honest is not None:
                note_cheat(server, signed_position(message))
                await server.push(
                    signed_again(server, honest, points=in_another_order(body_of(honest).points))
                )
        return False

    server.intercepts.append(intercept)


@at_blind_table(
    "C5.cheat-two-masks",
    _CHECKS,
    "stops at a mask of one seat that the next seat was shown otherwise (C10)",
    stops,
    game=FOUR,
)
def _two_masks(server: BlindHarness) -> None:
    """Show the client another mask of a seat than the one on which the seat after it has built its own."""

    def bend(harness: ClientHarness) -> Bend:
        changed: dict[int, messages.MatchRecord] = {}

        def bent(message: messages.ServerMessage) -> messages.ServerMessage | None:
            if not isinstance(message, messages.MatchRecord) or tag_of_body(message.body) != "mask":
                return message
            if not changed and _is_followed_by_another(harness, message.signer - 1):
                # Sound points and no card more or less: nothing but the head of the next mask tells (C10).
                points = in_another_order(body_of(message).points)
                changed[message.k] = signed_again(harness, message, points=points)
            return changed.get(message.k, message)

        return bent

    bending(bend)(server)


def _is_followed_by_another(server: ClientHarness, seat: int) -> bool:
    """Tell whether neither this seat nor the one that masks after it is the client's, and there is one."""
    call = server.at_play().call
    after = (seat + 1) % server.seats
    # blind.md, "The steps": masks go round to the dealer, whose own is the last.
    return call is not None and seat != call.dealer and 0 not in (seat, after)


def _sent(server: ClientHarness) -> list[messages.MatchRecord]:
    return [message for message in server.sent if isinstance(message, messages.MatchRecord)]


def _is_by_seat(message: messages.MatchRecord, tag: str) -> bool:
    return (message.signer, tag_of_body(message.body)) == (_ROLE, tag)


@_cheat("C5.cheat-spared", "a server that goes on when a seat is exposed (C52)")
def _spared(server: BlindHarness) -> None:
    """In the place of the forfeit of an exposed seat, let the match go on."""
    server.cheats[_SEAT] = reordered
    changing_records("rule")(
        lambda _server, message: signed_again(server, message, ruling="resume", seat=None, kind=None)
    )(server)
    server.pick = lambda _ledger: conceding


def _passed_on(name: str, what: str, kind: type[SeatStep], cheat: StepCheat) -> Scene:
    """Return a scene in which the server passes on a step of the other seat that it should have refused."""
    tag = kind.__name__.removesuffix("Step").lower()

    def arrange(server: BlindHarness) -> None:
        server.cheats[_SEAT] = only(kind, cheat)
        server.passes_on = lambda record: record.signer == _ROLE and tag_of_body(record.body) == tag

    return _cheat(name, what)(arrange)


def _undigested(step: SeatStep) -> SeatStep:
    return step._replace(commitments=step.commitments[1:]) if isinstance(step, LockStep) else step


_STEPS: Final = [
    _passed_on(name, what, kind, cheat)
    for name, what, kind, cheat in (
        ("C5.cheat-mask-unsound", "a mask with a point that is not sound (C44)", MaskStep, unsound),
        ("C5.cheat-mask-twice", "a mask with one point twice (C45)", MaskStep, with_one_twice),
        ("C5.cheat-mask-short", "a mask of too few points (C43)", MaskStep, too_short),
        ("C5.cheat-lock-unsound", "a lock with a point that is not sound (C44)", LockStep, unsound),
        ("C5.cheat-lock-short", "a lock without the digest of a key (C43)", LockStep, _undigested),
        ("C5.cheat-keys-short", "keys in boxes of a wrong length (C46)", KeysStep, in_short_boxes),
    )
]


@_cheat("C5.cheat-card", "a card that the other seat opens in the place of its own (C19)")
@changing_records("act")
def _another_card(server: ClientHarness, message: messages.MatchRecord) -> messages.MatchRecord:
    """Open the next card of the pack with the keys of the one that lies there."""
    body = body_of(message)
    if message.signer != _ROLE or body.kind != "play":
        return message
    slot, card, *rest = body.args
    return signed_again(server, message, args=(slot, (card + 1) % len(server.variant.pack), *rest))


@_cheat("C5.cheat-early-link", "the link of the other seat before the hand is over (C49)")
@changing_records("act")
def _early_link(server: ClientHarness, message: messages.MatchRecord) -> messages.MatchRecord:
    """In the place of the other seat's first act of a hand, let it open its link."""
    chain = server.players[_SEAT].chain
    if message.signer != _ROLE or chain is None:
        return message
    j = body_of(message).j
    body = Release(*place_of(server, message.k), j, _SEAT, chain.link(j + 1))
    return put_instead(server, message, body, signer=_ROLE)


@_cheat("C5.cheat-link", "a link of the other seat that is not of its chain (C14)")
def _other_link(server: BlindHarness) -> None:
    """Open a number that was never committed to, when the first hand is over."""
    server.pick = lambda _ledger: conceding

    def change(_server: ClientHarness, message: messages.MatchRecord) -> messages.MatchRecord:
        # The draw's link is released as in mode dealt, and is not what this is about.
        is_of_hand = message.signer == _ROLE and body_of(message).j > 0
        return signed_again(server, message, link=secret("no link", 1)) if is_of_hand else message

    changing_records("release")(change)(server)


def _takes_the_forfeit(server: ClientHarness, end: ClientExit) -> None:
    is_forfeit = any(map(_is_forfeit, server.records))
    require(is_forfeit, "the match never came to the forfeit of the seat that is exposed")
    finishes(server, end)


def _is_forfeit(record: Record) -> bool:
    body = parse(record)
    return isinstance(body, Rule) and (body.ruling, body.seat) == ("forfeit", _SEAT)


@at_blind_table(
    "C5.exposed",
    _OPENING,
    "takes the forfeit of a seat whose link shows that it masked otherwise (C50)",
    _takes_the_forfeit,
)
def _exposed(server: BlindHarness) -> None:
    """Let the other seat mask the pack in another order than its link says."""
    server.cheats[_SEAT] = reordered
    server.pick = lambda _ledger: conceding


def _says_garbled(server: ClientHarness, end: ClientExit) -> None:
    require(signed_steps(server, "garbled"), "it did not sign that its hand is garbled")
    _takes_the_forfeit(server, end)


@at_blind_table(
    "C5.garbled", _OPENING, "says that its hand is garbled, if its boxes do not open", _says_garbled
)
def _shut(server: BlindHarness) -> None:
    """Let the other seat seal its keys in boxes that do not open."""
    server.cheats[_SEAT] = in_shut_boxes


@at_blind_table(
    "C5.falsely-garbled",
    _OPENING,
    "opens its link when another says that the hand is garbled, and takes its forfeit",
    _takes_the_forfeit,
)
def _falsely_garbled(server: BlindHarness) -> None:
    """Let the other seat say of a sound hand that it is garbled."""

    def claim() -> Record | None:
        ledger = server.at_play()
        is_played = (
            ledger.hand is not None and ledger.blind_hand is not None and not ledger.blind_hand.garbled
        )
        # C48: a hand is claimed to be garbled where all keys are in.
        if not is_played or due(ledger) is not Due.PLAYERS:
            return None
        return server.players[_SEAT].sign(garbled_body(ledger, _SEAT))

    server.instead = claim
