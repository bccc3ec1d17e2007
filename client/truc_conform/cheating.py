"""The planted cheats of level C3: each is one lie of the server, or of the other seat, that a verifier must notice.

After it the client signs nothing for a later position, and its program ends with another exit code than 0. It may ask
again first, where a lie could be the line's doing: it is told the same again.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec.structs import replace

from truc_conform.forging import (
    Maker,
    Place,
    Rewrite,
    body_of,
    deal_body,
    instead,
    on,
    on_record,
    place_of,
    resigned,
    ruled_out,
)
from truc_conform.keyed import without_key
from truc_conform.puppets import Player, secret
from truc_conform.result import PASSED, Outcome, failed
from truc_conform.scenes import Exit, Scene, acts, one, unended
from truc_conform.seated import on_choice
from truc_conform.stage import Stage, tag_of_body
from truc_protocol import dealing
from truc_protocol.bodies import Act, Body, Call, Close, Deal, Draw, End, Release, Rule
from truc_protocol.boxes import Option
from truc_protocol.dealing import Opening
from truc_protocol.ledger import Ledger
from truc_protocol.messages import (
    BoxedOptions,
    Choice,
    ClientMessage,
    GuestAct,
    MatchRecord,
    Ok,
    OpenOptions,
    Resume,
    ServerMessage,
    Setup,
    SignedAct,
    Terms,
)
from truc_protocol.records import Record, body_hash, encode, parse
from truc_protocol.setup import open_terms
from truc_server.dealer import Dealer
from truc_server.match_secrets import MatchSecrets

_CHECKS: Final = "../fairness/specification.md#11-checks"
_DUTIES: Final = "../fairness/specification.md#13-what-a-client-does"
_BEFORE_SEAT: Final = -2
_BEFORE_MATCH: Final = -1
_NO_LINK: Final = secret("no link", 1)

Cheat = Callable[[Stage], None]


def stops(stage: Stage, end: Exit) -> Outcome:
    """Judge a client that has been cheated."""
    if (early := without_key(stage)) is not None:
        return early
    if stage.cheated_at is None:
        return failed("the match did not come to the cheat")
    signed = [message for message in acts(stage) if isinstance(message, SignedAct)]
    later = [message for message in signed if _position(stage, message) > stage.cheated_at]
    if later:
        return failed(f"it signed a {tag_of_body(later[0].body)} record after the cheat")
    if end.code is None:
        return failed(f"it had not stopped after {end.seconds:.0f} s")
    return PASSED if end.code else failed("it ended with exit code 0, as if all had been well")


def _position(stage: Stage, message: SignedAct) -> int:
    return _BEFORE_MATCH if message.match is None else stage.position_of(message)


def bending(bend: Callable[[Stage], Callable[[ServerMessage], ServerMessage | None]]) -> Cheat:
    """Return a cheat by a bend; it begins with the first message that is bent."""

    def cheat(stage: Stage) -> None:
        stage.is_quiet = True
        change = bend(stage)

        def marked(message: ServerMessage) -> ServerMessage | None:
            bent = change(message)
            if bent is not message and stage.cheated_at is None:
                stage.cheated_at = _begins_at(message)
            return bent

        stage.bend = marked

    return cheat


def _begins_at(message: ServerMessage) -> int:
    match message:
        case MatchRecord(k=k):
            return k
        case BoxedOptions(at=at):
            return at - 1
        case Terms():
            return _BEFORE_SEAT
        case _:
            return _BEFORE_MATCH


def rewriting(kind: type[Body], index: int, *makers: Maker) -> Cheat:
    """Return a cheat by another record in the place of the first of its kind and deal index."""
    return bending(lambda stage: Rewrite(stage, kind, index, *makers))


def resigning(tag: str, **changes: Any) -> Cheat:
    """Return a cheat by records of a kind that are changed, and signed again."""
    return bending(lambda stage: on_record(tag, lambda message: resigned(stage, message, **changes)))


def _bad_signature(stage: Stage) -> None:
    bending(lambda _stage: on_record("deal", lambda message: replace(message, sig=b"\x01" * 64)))(stage)


def _one_further(_stage: Stage) -> Callable[[ServerMessage], ServerMessage | None]:
    return on_record("deal", lambda message: replace(message, k=message.k + 1))


def _swapped_boxes(stage: Stage) -> Callable[[ServerMessage], ServerMessage | None]:
    return on_record(
        "deal",
        lambda message: resigned(stage, message, boxes=tuple(reversed(body_of(message).boxes))),
    )


def _other_terms(stage: Stage) -> Callable[[ServerMessage], ServerMessage | None]:
    def change(message: Terms) -> Terms:
        opts = stage.opts._replace(voids=9)
        record = stage.dealer.table_record(
            stage.variant, seats=2, opts=opts, name="a server", opened=1_700_000_000
        )
        return replace(message, record=record)

    return on(Terms, change)


def _other_document(_stage: Stage) -> Callable[[ServerMessage], ServerMessage | None]:
    return on(Terms, lambda message: replace(message, doc=message.doc + b"\n"))


def _puppet_in_the_seat(stage: Stage) -> Callable[[ServerMessage], ServerMessage | None]:
    def change(message: Setup) -> Setup:
        table, _, other, _ = (Record(*record) for record in message.records)
        terms = open_terms(stage.document, table)
        seats = (Player(0, 99).join(terms), other)
        began = stage.dealer.match_record(terms, seats)
        return replace(message, match=body_hash(began), records=(table, *seats, began))

    return on(Setup, change)


def _forged_act(stage: Stage) -> Callable[[ServerMessage], ServerMessage | None]:
    """Let the server sign, in the name of the other seat, with its own key."""

    def change(message: MatchRecord) -> MatchRecord:
        if message.signer != 2:  # noqa: PLR2004 - the role of seat 1
            return message
        return replace(message, sig=stage.key.sign(message.body))

    return on_record("act", change)


def _plays_of_the_other(
    stage: Stage, change: Callable[[Act], tuple[Any, ...]]
) -> Callable[[ServerMessage], ServerMessage | None]:
    def bend(message: MatchRecord) -> MatchRecord:
        body = body_of(message)
        if not isinstance(body, Act) or (message.signer, body.kind) != (2, "play"):
            return message
        return resigned(stage, message, args=change(body))

    return on(MatchRecord, bend)


def _another_card(stage: Stage) -> Callable[[ServerMessage], ServerMessage | None]:
    def change(body: Act) -> tuple[Any, ...]:
        slot, card, salt, ask = body.args
        return slot, (card + 1) % len(stage.variant.pack), salt, ask

    return _plays_of_the_other(stage, change)


def _another_slot(stage: Stage) -> Callable[[ServerMessage], ServerMessage | None]:
    def change(body: Act) -> tuple[Any, ...]:
        slot, *opening = body.args
        return (slot + 1) % 3, *opening

    return _plays_of_the_other(stage, change)


def _leaves(change: Callable[[Stage, Deal], tuple[bytes, ...]]) -> Cheat:
    """Return a cheat by other commitments for the cards of the other seat, which come to light at the close."""

    def cheat(stage: Stage) -> None:
        stage.concedes_at = 1

        def forge(record: Record) -> Record:
            body = parse(record)
            if not isinstance(body, Deal) or body.j != 1:
                return record
            forged = encode(replace(body, leaves=(body.leaves[0], change(stage, body))))
            return Record(0, forged, stage.key.sign(forged))

        def recast(message: ServerMessage) -> Iterable[ServerMessage]:
            if isinstance(message, MatchRecord) and tag_of_body(message.body) == "close":
                stage.cheated_at = message.k if stage.cheated_at is None else stage.cheated_at
            return (message,)

        stage.forge, stage.recast = forge, recast

    return cheat


def _swapped_leaf(_stage: Stage, body: Deal) -> tuple[bytes, ...]:
    return (secret("leaf", 1), *body.leaves[1][1:])


def _unshuffled(stage: Stage, body: Deal) -> tuple[bytes, ...]:
    own, _ = (stage.dealer.openings(_dealt(stage), seat) for seat in range(2))
    held = {opening.card for opening in own}
    free = [card for card in range(len(stage.variant.pack)) if card not in held][:3]
    other = tuple(Opening(card, secret(f"salt {card}", 1)[:16]) for card in free)
    return dealing.leaves(stage.at_play().setup.mid, j=body.j, d=body.d, hands=(own, other))[1]


def _dealt(stage: Stage) -> Ledger:
    honest = stage.dealer.next_record(stage.at_play())
    if honest is None:
        raise RuntimeError("no deal is due")
    return stage.dealer.take(stage.at_play(), honest)


def _raised(score: Any) -> Any:
    (games, upper, points), theirs = score
    return (games, upper, points + 1), theirs


def _wrong_score(place: Place, body: Close) -> Close:
    return Close(*place, body.j, body.link, _raised(body.score), body.reason)


def _wrong_close_link(place: Place, body: Close) -> Close:
    return Close(*place, body.j, _NO_LINK, body.score, body.reason)


def _wrong_winner(place: Place, body: End) -> End:
    winner = 1 - body.winner if body.winner is not None else 0
    return End(*place, body.next_index, body.links, body.xsec, body.score, winner, body.reason)


def _one_counter(stage: Stage) -> None:
    """Seal all options under one counter."""
    stage.one_counter = True
    seen: list[int] = []

    def recast(message: ServerMessage) -> Iterable[ServerMessage]:
        if isinstance(message, BoxedOptions):
            seen.append(message.at)
            if len(seen) > 1 and stage.cheated_at is None:
                stage.cheated_at = message.at - 1
        return (message,)

    stage.recast = recast


def _twisting(change: Callable[[Stage, Option], Option]) -> Cheat:
    """Return a cheat by options to play that are not what they say."""

    def cheat(stage: Stage) -> None:
        def twist(option: Option) -> Option:
            if option.kind != "play":
                return option
            stage.cheated_at = stage.at_play().k - 1 if stage.cheated_at is None else stage.cheated_at
            return change(stage, option)

        stage.twist = twist

    return cheat


def _foreign_card(stage: Stage, option: Option) -> Option:
    slot, card, *rest = option.args
    return option._replace(args=(slot, (int(str(card)) + 1) % len(stage.variant.pack), *rest))


def _another_line(_stage: Stage, option: Option) -> Option:
    return option._replace(line="concede")


def _in_clear(_stage: Stage) -> Callable[[ServerMessage], ServerMessage | None]:
    def change(message: BoxedOptions) -> OpenOptions:
        choices = (Choice(key="concede", kind="concede", hints={}),)
        return OpenOptions(
            table=message.table,
            match=message.match,
            at=message.at,
            offer=message.offer,
            must=True,
            choices=choices,
        )

    return on(BoxedOptions, change)


def _nonce_again(stage: Stage) -> None:
    """Offer a second table under the nonce of the first, once the seat is signed."""
    seated: list[bytes] = []

    async def intercept(message: ClientMessage) -> bool:
        if not isinstance(message, SignedAct) or message.match is not None or stage.terms is None:
            return False
        seated.append(message.body)
        await stage.push(Ok(re=message.id))
        if len(seated) == 1:
            stage.cheated_at = _BEFORE_MATCH
            await stage.push(replace(stage.terms, record=_second_table(stage)))
        return True

    stage.intercepts.append(intercept)


def _second_table(stage: Stage) -> Record:
    first = stage.dealer.secrets
    dealer = Dealer(
        stage.key, MatchSecrets(secret("root again", 1), secret("x again", 1), first.tn), links=64
    )
    return dealer.table_record(
        stage.variant, seats=stage.seats, opts=stage.opts, name="a server", opened=1_700_000_001
    )


def _signs_no_second(stage: Stage, end: Exit) -> Outcome:
    seats = {
        message.body for message in acts(stage) if isinstance(message, SignedAct) and message.match is None
    }
    return failed("it signed two tables with one nonce") if len(seats) > 1 else stops(stage, end)


def _two_histories(stage: Stage) -> None:
    """Lose the connection behind a record, and tell another story in its place afterwards."""

    async def lose(at: Stage, message: SignedAct | GuestAct) -> bool:
        await at.take(at.record_of(message))
        await at.drop()
        return True

    async def intercept(message: ClientMessage) -> bool:
        if not isinstance(message, Resume):
            return False
        k = len(stage.records) - 1
        stage.cheated_at = k
        place, honest = place_of(stage, k), stage.message(k)
        await stage.push(instead(stage, honest, ruled_out(place, stage.at_play().deal_index)))
        await stage.push(Ok(re=message.id, k=k + 1))
        await stage.go_on()
        return True

    stage.intercepts.append(intercept)
    on_choice(stage, lose, number=2)


def _skipped(stage: Stage) -> None:
    """Leave a record out, once."""
    left = [1]

    def bend(message: ServerMessage) -> ServerMessage | None:
        if isinstance(message, MatchRecord) and tag_of_body(message.body) == "draw" and left:
            left.clear()
            stage.cheated_at = message.k
            return None
        return message

    stage.bend = bend


def _asks_again_or_stops(stage: Stage, end: Exit) -> Outcome:
    if any(isinstance(heard.message, Resume) for heard in stage.heard):
        return without_key(stage) or unended(stage, end) or PASSED
    return stops(stage, end)


_CHEATS: Final[tuple[tuple[str, str, Cheat], ...]] = (
    ("signature", "a record whose signature is not valid (C3)", _bad_signature),
    ("forged-act", "an act of the other seat that it has not signed (C3)", bending(_forged_act)),
    ("document", "a rule document that is not the one signed (C5)", bending(_other_document)),
    ("terms", "terms other than the table showed (C9)", bending(_other_terms)),
    ("seat", "a setup with somebody else in the client's own seat (C9)", bending(_puppet_in_the_seat)),
    ("head", "a record that stands at another head (C10)", resigning("call", head=b"\x01" * 32)),
    ("position", "a record in the place of the next (C10)", bending(_one_further)),
    (
        "called-twice",
        "a deal that is called again (C11)",
        rewriting(Release, 1, lambda place, body: Call(*place, body.j, 0, 3, 0, (0, 1, 2))),
    ),
    ("dealer", "a call for another dealer, signed again (C13)", resigning("call", dealer=1, cut=9)),
    (
        "left-out",
        "a call that leaves a contributor out (C13)",
        rewriting(
            Call, 1, lambda place, body: Call(*place, body.j, body.dealer, body.ncards, body.cut, (0, 2))
        ),
    ),
    (
        "draw-link",
        "a draw with a number that was not committed to (C14)",
        rewriting(Draw, 0, lambda place, body: Draw(*place, body.j, _NO_LINK, body.first)),
    ),
    (
        "close-link",
        "a hand opened by a number that was not committed to (C14)",
        rewriting(Close, 1, _wrong_close_link),
    ),
    (
        "early-deal",
        "a deal before all have released (C15)",
        rewriting(Release, 1, lambda place, body: deal_body(place, body.j)),
    ),
    (
        "draw",
        "a draw with another result (C16)",
        rewriting(Draw, 0, lambda place, body: Draw(*place, body.j, body.link, 1 - body.first)),
    ),
    (
        "deal",
        "a deal with another cut than was called (C17)",
        rewriting(Deal, 1, lambda place, body: deal_body(place, body.j, dealer=body.dealer, cut=7)),
    ),
    ("box", "a hand in a box that does not open onto its leaves (C18)", bending(_swapped_boxes)),
    ("card", "a card played that the other seat does not hold (C19)", bending(_another_card)),
    ("slot", "a card played from another slot (C19)", bending(_another_slot)),
    (
        "ruling",
        "a ruling without a cause (C22)",
        rewriting(Act, 1, lambda place, body: Rule(*place, body.j, "forfeit", 0, "absent", ())),
    ),
    ("score", "a score with a point too many (C24)", rewriting(Close, 1, _wrong_score)),
    ("winner", "a match that ends with the wrong winner (C24)", rewriting(End, 0, _wrong_winner)),
    ("leaf", "a card swapped under its commitment (C25)", _leaves(_swapped_leaf)),
    ("shuffle", "cards that are not from the shuffle (C25)", _leaves(_unshuffled)),
)
_PRIVATE: Final[tuple[tuple[str, str, Cheat], ...]] = (
    ("options-again", "a box of options under a counter used before", _one_counter),
    (
        "options-foreign",
        "an option that opens a card which is not the client's own",
        _twisting(_foreign_card),
    ),
    ("options-line", "an option that says one move and is another", _twisting(_another_line)),
    ("options-clear", "options outside their box", bending(_in_clear)),
)

SCENES: Final[tuple[Scene, ...]] = (
    *(one(f"C3.cheat-{name}", _CHECKS, f"stops at {what}", cheat, stops) for name, what, cheat in _CHEATS),
    *(one(f"C3.cheat-{name}", _DUTIES, f"refuses {what}", cheat, stops) for name, what, cheat in _PRIVATE),
    one(
        "C3.cheat-nonce",
        _CHECKS,
        "signs no second table under a nonce (C9, C36)",
        _nonce_again,
        _signs_no_second,
    ),
    one(
        "C3.cheat-history",
        _CHECKS,
        "stops at another record in a place that it knows (C33)",
        _two_histories,
        stops,
    ),
    one(
        "C3.gap",
        "overview.md#one-log",
        "asks for a record that is missing, or stops",
        _skipped,
        _asks_again_or_stops,
    ),
)
