"""What a match does with what a seat signs or a guest chooses: cheap comparisons first, then the signature, then the ledger.

Nothing here changes a match: what is taken is answered with a turn, which the table commits. Invariants: nothing reaches
the ledger unless its signature was verified under the key in force for its seat; a validly signed body at the present
place that is not taken is refused with the server's signature, unless it is said to be late; a guest's choice becomes
the record that the server writes for it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from truc_protocol.acts import write_args
from truc_protocol.bodies import Act, AnyBody, Keys, Placed, Proxy, Release, Rule, Sub
from truc_protocol.checks import CheckError
from truc_protocol.crypto import keys
from truc_protocol.dealer import proxy_body
from truc_protocol.errors import OVERTAKEN_CODES, Code
from truc_protocol.ledger import (
    FoldedRecord,
    Ledger,
    PlacedRecord,
    check_place,
    find_cards_shown,
    seats_true_to_links,
    steps_due,
    take,
)
from truc_protocol.messages import GuestAct
from truc_protocol.records import KIND_OF, Binding, Record, parse, unsigned_record
from truc_rules import Action, IllegalActionError, Kind, MoveError, Seat, apply, parse_move
from truc_server.matches.game import Game, Turn
from truc_server.net.peer import LoggedInPlayer, RefusedRequestError, RepeatedActError
from truc_server.storage import Write

CODES: Final[Mapping[str, Code]] = {
    "C1": Code.BAD_MESSAGE,
    "C2": Code.BAD_MESSAGE,
    "C3": Code.BAD_SIGNATURE,
    "C4": Code.TERMS_REFUSED,
    "C6": Code.TERMS_REFUSED,
    "C7": Code.TERMS_REFUSED,
    "C10": Code.BAD_POSITION,
    "C11": Code.NOT_NOW,
    "C12": Code.BAD_POSITION,
    "C14": Code.ILLEGAL_ACTION,
    "C15": Code.NOT_NOW,
    "C19": Code.ILLEGAL_ACTION,
    "C20": Code.ILLEGAL_ACTION,
    "C21": Code.NOT_NOW,
    "C26": Code.NOT_NOW,
    "C27": Code.ILLEGAL_ACTION,
    "C28": Code.ILLEGAL_ACTION,
    "C29": Code.PAUSED,
    "C32": Code.NOT_NOW,
    "C43": Code.NOT_NOW,
    "C44": Code.ILLEGAL_ACTION,
    "C45": Code.ILLEGAL_ACTION,
    "C46": Code.ILLEGAL_ACTION,
    "C48": Code.NOT_NOW,
    "C49": Code.NOT_NOW,
}
"""What a failed check of a player's body is answered with."""

# rules.md 2, "Turn", and 13b.12: an ask is void once the next seat has played.
_CLOSES_WINDOW: Final = (Kind.PLAY, Kind.COVER, Kind.BLIND)


LONGEST_BODY: Final = 1_024  # bytes; what players sign is less than half as long
# bytes, in mode blind: with the act around it, it fits the longest frame of a client
LONGEST_STEP: Final = 7_680
# blind.md, "Records": a void has the reason `points` if what came failed one of these.
_STEPS_FAIL: Final = ("C43", "C44", "C45", "C46")


class RefusedBodyError(RefusedRequestError):
    """A body that is not taken."""

    def __init__(self, code: Code, message: str, evidence: Record | None = None) -> None:
        field = "body" if code is Code.BAD_MESSAGE else None
        super().__init__(code, message, field=field, evidence=evidence)


def code_of(error: CheckError) -> Code:
    """Return the code that answers a failed check."""
    return Code(error.refusal) if error.refusal else CODES[error.check]


class Verified(Struct, frozen=True):
    """A record in its place, whose signature was found to be that of the key `public`.

    `found` is what the ledger makes of it there, or why it is not taken, if that was found out too.
    """

    placed: PlacedRecord
    public: bytes
    found: FoldedRecord | CheckError | None = None


def verified(public: bytes, placed: PlacedRecord) -> Verified:
    """Check who has signed a record in its place, and return it with that key: nothing else makes a `Verified`.

    Raises:
        RefusedBodyError: The signature is not the key's.
    """
    if not keys.verify(public, placed.record.body, placed.record.sig):
        raise _not_signed(placed.record)
    return Verified(placed, public)


def judged(public: bytes, placed: PlacedRecord, held: Sequence[Keys] = ()) -> Verified:
    """Check who has signed a record in its place, and everything else about it, which takes milliseconds in mode blind.

    If it is the last keys that were missing beside those `held`, the cards that all of them show are found here too.

    Raises:
        RefusedBodyError: The signature is not the key's.
    """
    signed = verified(public, placed)
    try:
        found = take(placed)
    except CheckError as error:
        return replace(signed, found=error)
    if isinstance(placed.body, Keys):
        # looking for a card takes up to a millisecond: here in a thread, not where all tables wait
        find_cards_shown(placed.ledger, (*held, placed.body))
    return replace(signed, found=found)


def judged_together(links: Sequence[tuple[bytes, PlacedRecord]]) -> list[Verified | RefusedBodyError]:
    """Check links of a hand in mode blind, each with the key that must have signed it, all in the same place.

    Each is taken behind those before it, as if these had been written. A seat is judged with all of them, which takes half the
    time (`seats_true_to_links`).
    """
    signed = [_signed(public, placed) for public, placed in links]
    bodies = [each.placed.body for each in signed if isinstance(each, Verified)]
    ledger = links[0][1].ledger
    kept = seats_true_to_links(ledger, [body for body in bodies if isinstance(body, Release)])
    found: list[Verified | RefusedBodyError] = []
    for each in signed:
        if isinstance(each, RefusedBodyError):
            found.append(each)
            continue
        behind = _judged_behind(ledger, each, is_known=each.placed.record.signer - 1 in kept)
        ledger = behind.found.ledger if isinstance(behind.found, FoldedRecord) else ledger
        found.append(behind)
    return found


def _signed(public: bytes, placed: PlacedRecord) -> Verified | RefusedBodyError:
    try:
        return verified(public, placed)
    except RefusedBodyError as error:
        return error


def _judged_behind(ledger: Ledger, signed: Verified, *, is_known: bool) -> Verified:
    placed = signed.placed
    try:
        placed = check_place(ledger, placed.record, placed.body)
        return replace(signed, placed=placed, found=take(placed, is_known=is_known))
    except CheckError as error:
        return replace(signed, placed=placed, found=error)


def precheck(game: Game, record: Record, newcomer: LoggedInPlayer | None = None) -> PlacedRecord:
    """Make the cheap comparisons, before a signature is checked; a `newcomer` may only take over a seat.

    Raises:
        RepeatedActError: It stands in the match already.
        RefusedBodyError: It would not be taken.
    """
    body = parsed(record, LONGEST_STEP if game.is_blind else LONGEST_BODY)
    if newcomer is not None:
        return _newcomer(game, record, body, newcomer)
    match body:  # patterns, as `isinstance` is a call
        # play.md, "Decisions": a body that is in the match already is `ok`, before anything else is compared
        case Placed() if body.k != game.ledger.k:
            _check_new(game, record, body)
            _note_beyond(game, record, body)
        case _:
            pass
    try:
        return check_place(game.ledger, record, body)
    except CheckError as error:
        raise _misplaced(game, body, error) from error


def _check_new(game: Game, record: Record, body: AnyBody) -> None:
    """Check that a record does not stand in the match already."""
    if isinstance(body, Placed) and body.k < game.ledger.k:
        k = game.recent.find(record, since=body.k)
        if k is not None:
            raise RepeatedActError(k)


def accept(game: Game, signed: Verified, *, came: float | None = None) -> Turn:
    """Return what follows from a seat's record in the match as it stands now.

    Its time is counted until now, or until the moment at which it `came`.

    Raises:
        RepeatedActError: It stands in the match already.
        RefusedBodyError: It is not taken.
    """
    placed, public = signed.placed, signed.public
    record, body = placed.record, placed.body
    if game.ledger is not placed.ledger:
        _check_new(game, record, body)  # it may have come on another connection too meanwhile
    if type(body) is Sub:
        raise RefusedBodyError(Code.NOT_NOW, "expected a sub record from who stands by for the seat")
    contributor = game.ledger.contributors[record.signer]
    # the key in force: a substitute may have taken the seat while the signature was checked
    if contributor is None or contributor.public != public:
        raise _not_signed(record)
    return _taken(game, placed, found=signed.found, came=came)


def _newcomer(game: Game, record: Record, body: AnyBody, newcomer: LoggedInPlayer) -> PlacedRecord:
    if not isinstance(body, Sub):
        raise RefusedBodyError(Code.NOT_NOW, f"expected a sub record for seat {record.signer - 1}")
    placed = _in_place(game, record, body)
    if body.pk != newcomer.id:
        raise RefusedBodyError(Code.TERMS_REFUSED, "pk: expected the key that is logged in")
    check_name(body.name, newcomer.name)
    return placed


def accept_substitute(game: Game, signed: Verified, newcomer: LoggedInPlayer, *also: Write) -> Turn:
    """Return what follows from a newcomer's record in the match as it stands now; `also` is stored with it.

    Raises:
        RefusedBodyError: It is not taken.
    """
    placed = _newcomer(game, signed.placed.record, signed.placed.body, newcomer)
    if signed.public != newcomer.id:
        raise _not_signed(placed.record)
    return _taken(game, placed, *also)


def _taken(
    game: Game,
    placed: PlacedRecord,
    *also: Write,
    found: FoldedRecord | CheckError | None = None,
    came: float | None = None,
) -> Turn:
    # another record came in between: a body for its place is refused unsigned, as stale
    if placed.ledger is not game.ledger:
        placed, found = _in_place(game, placed.record, placed.body), None
    try:
        match found:  # a pattern, as `isinstance` is a call
            case CheckError():
                raise found
            case _:
                return game.take(placed, *also, folded=found, came=came)
    except CheckError as error:
        raise refused(game, placed, error) from error


def refused(game: Game, placed: PlacedRecord, error: CheckError) -> RefusedBodyError:
    """Return the refusal of a signed record that fails a check in its place, and note it if it is the step that is due."""
    code, seat = code_of(error), placed.record.signer - 1
    if error.check in _STEPS_FAIL and (due := steps_due(game.ledger)) is not None and seat in due.seats:
        game.clock.has_failed = True
    # late bodies are refused unsigned: a signed refusal of what the rules allow convicts the server (C35)
    evidence = (
        None if code in OVERTAKEN_CODES else game.dealer.refuse(game.mid, placed.record.body, str(code))
    )
    return RefusedBodyError(code, str(error), evidence)


def check_name(signed: bytes, name: str) -> None:
    """Check that a player signs the name that the server gave: another could look like somebody else's.

    Raises:
        RefusedBodyError: It is another.
    """
    if signed != name.encode():
        raise RefusedBodyError(Code.TERMS_REFUSED, f"name: expected {name!r}, as welcome says, got another")


def parsed(record: Record, longest: int = LONGEST_BODY) -> AnyBody:
    """Read what a player signs.

    Raises:
        RefusedBodyError: It cannot be read, or is longer than anything that players sign.
    """
    if len(record.body) > longest:
        message = f"body: expected at most {longest} bytes, got {len(record.body)}"
        raise RefusedBodyError(Code.BAD_MESSAGE, message)
    try:
        return parse(record)
    except CheckError as error:
        raise RefusedBodyError(code_of(error), str(error)) from error


def _note_beyond(game: Game, record: Record, body: Placed) -> None:
    """Log, once for each seat, that it has signed for a position of this match that the server has not reached."""
    # checked on the main thread, so only the first of each seat: nobody can keep the server busy with it
    if body.mid != game.mid or body.k <= game.ledger.k or record.signer in game.signers_ahead:
        return
    game.signers_ahead += (record.signer,)
    signer = game.ledger.contributors[record.signer]
    if signer is not None and keys.verify(signer.public, record.body, record.sig):
        game.hold.report_claim(seat=record.signer - 1, seen=body.k - 1, k=game.ledger.k)


def _not_signed(record: Record) -> RefusedBodyError:
    return RefusedBodyError(
        Code.BAD_SIGNATURE, f"expected the signature of seat {record.signer - 1} over the body, got another"
    )


def _in_place(game: Game, record: Record, body: AnyBody) -> PlacedRecord:
    try:
        return check_place(game.ledger, record, body)
    except CheckError as error:
        raise _misplaced(game, body, error) from error


def _misplaced(game: Game, body: AnyBody, error: CheckError) -> RefusedBodyError:
    """Return the refusal of a record that does not fit where the match stands."""
    ledger, k = game.ledger, getattr(body, "k", None)
    # releases, keys and acks carry k0, as they come in any order (`Q` of specification.md, "Records")
    here = ledger.parallel[0] if KIND_OF[type(body)].binding is Binding.PARALLEL else ledger.k
    if error.check != "C10" or k is None or k >= here:
        return RefusedBodyError(code_of(error), str(error))
    code = Code.VOID_BET if _window_is_closed(game, body) else Code.STALE_POSITION
    return RefusedBodyError(code, f"expected position {here}, got {k}")


def _window_is_closed(game: Game, body: AnyBody) -> bool:
    """Tell whether a late ask was overtaken by another seat's card."""
    if not isinstance(body, Act) or body.kind != Kind.RAISE:
        return False
    overtaking = game.recent.at(body.k)
    if overtaking is None:
        return False
    match parse(overtaking.record):
        case Act() | Proxy() | Rule(ruling="move") as other:
            return other.seat != body.seat and other.kind in _CLOSES_WINDOW
        case _:
            return False


ANY_TIME = (Kind.PAUSE, Kind.RESUME, Kind.RESIGN)


def accept_choice(game: Game, seat: int, choice: GuestAct) -> Turn:
    """Return what follows from a guest's choice.

    Raises:
        RepeatedActError: It was taken before.
        RefusedError: It is not taken.
    """
    # a guest signs nothing: the same choice for the same position is the same act, sent again
    if game.guest_choices.get(seat) == (choice.at, choice.choose, choice.p):
        raise RepeatedActError(choice.at)
    check_position(game, choice.at)
    action = _action(game, seat, choice)
    cut = choice.p if choice.p is not None else game.questions.cut(game.ledger)
    args: tuple[Any, ...] = ()
    # these may come while no cards are dealt, and carry none
    if action.kind not in ANY_TIME:
        args = write_args(action, game.dealer.openings(game.ledger, seat), cut=cut)
    body = proxy_body(game.ledger, action.seat, str(action.kind), args)
    try:
        return game.take(check_place(game.ledger, unsigned_record(body), body))
    except CheckError as error:
        raise RefusedRequestError(code_of(error), str(error)) from error


def check_position(game: Game, at: int) -> None:
    """Check that what was sent is for the position that comes next.

    Raises:
        RefusedError: It is for another.
    """
    if at != game.ledger.k:
        code = Code.STALE_POSITION if at < game.ledger.k else Code.BAD_POSITION
        raise RefusedRequestError(code, f"expected position {game.ledger.k}, got {at}")


def _action(game: Game, seat: int, choice: GuestAct) -> Action:
    try:
        action = parse_move(game.setup.terms.variant, Seat(seat), choice.choose)
    except MoveError as error:
        raise RefusedRequestError(Code.ILLEGAL_ACTION, str(error), field="choose") from error
    here = game.clock.here
    # the options of whoever is asked are known already; looking again at a seat without moves finds none
    if action.kind in ANY_TIME or action in (here.found.get(seat) or here.find((seat,))[seat]):
        return action
    raise _illegal(game, action)


def _illegal(game: Game, action: Action) -> RefusedRequestError:
    if game.ledger.pause.active:
        return RefusedRequestError(Code.PAUSED, "the match is paused")
    try:
        if game.ledger.match is not None:
            apply(game.ledger.match, action)
    except IllegalActionError as error:
        return RefusedRequestError(Code(error.code), error.message)
    return RefusedRequestError(Code.NOT_NOW, "nothing is to be decided now")
