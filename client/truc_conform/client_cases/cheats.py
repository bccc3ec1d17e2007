"""How a server lies: one function for each planted cheat, which arranges a stage for it.

cheating.py says what a client must do about each, and which check it concerns.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec.structs import replace

from truc_conform.client_cases.seated import on_choice
from truc_conform.client_harness import Stage
from truc_conform.forging import (
    Maker,
    Place,
    Rewrite,
    body_of,
    instead,
    on,
    on_record,
    place_of,
    resigned,
    ruled_out,
)
from truc_conform.playing import Player, secret
from truc_conform.result import AnyAct, tag_of_body
from truc_conform.scenes import at_first
from truc_protocol import dealing
from truc_protocol.bodies import Act, Body, Close, Deal, End
from truc_protocol.boxes import Option
from truc_protocol.dealer import Dealer
from truc_protocol.dealing import Opening
from truc_protocol.ledger import Ledger
from truc_protocol.match_secrets import MatchSecrets
from truc_protocol.messages import (
    BoxedOptions,
    Choice,
    ClientMessage,
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

_BEFORE_SEAT: Final = -2
_OTHER: Final = 2  # the role of seat 1
_BEFORE_MATCH: Final = -1
NO_LINK: Final = secret("no link", 1)

Cheat = Callable[[Stage], None]
Change = Callable[[ServerMessage], ServerMessage | None]


def bending(bend: Callable[[Stage], Change]) -> Cheat:
    """Make a cheat of a bend; it begins with the first message that is bent."""

    def cheat(stage: Stage) -> None:
        stage.is_quiet = True
        change = bend(stage)

        def marked(message: ServerMessage) -> ServerMessage | None:
            bent = change(message)
            if bent is not message:
                _note(stage, _begins_at(message))
            return bent

        stage.bend = marked

    return cheat


def _note(stage: Stage, k: int) -> None:
    """Note the position of a cheat, the first time."""
    if stage.cheated_at is None:
        stage.cheated_at = k


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


def rewriting(kind: type[Body], index: int, maker: Maker) -> Cheat:
    """Return a cheat that puts another record in the place of the first of its kind and deal index."""
    return bending(lambda stage: Rewrite(stage, kind, index, maker))


def other_calls(**changes: Any) -> Cheat:
    """Return a cheat that changes the calls, and signs them again."""
    return bending(lambda stage: on_record("call", lambda message: resigned(stage, message, **changes)))


def bad_signature(stage: Stage) -> None:
    """Break the signature of the deals."""
    bending(lambda _stage: on_record("deal", lambda message: replace(message, sig=b"\x01" * 64)))(stage)


def one_further(_stage: Stage) -> Change:
    """Send a deal as if it stood one position further on."""
    return on_record("deal", lambda message: replace(message, k=message.k + 1))


def swapped_boxes(stage: Stage) -> Change:
    """Give each seat the box of the other."""
    return on_record(
        "deal",
        lambda message: resigned(stage, message, boxes=tuple(reversed(body_of(message).boxes))),
    )


def other_terms(stage: Stage) -> Change:
    """Offer other terms than the table showed."""

    def change(message: Terms) -> Terms:
        opts = stage.opts._replace(voids=9)
        terms = stage.dealer.terms(stage.variant, seats=2, opts=opts, name="a server", opened=1_700_000_000)
        return replace(message, record=terms.record)

    return on(Terms, change)


def other_document(_stage: Stage) -> Change:
    """Send a rule document that is not the one signed."""
    return on(Terms, lambda message: replace(message, doc=message.doc + b"\n"))


def puppet_in_the_seat(stage: Stage) -> Change:
    """Begin the match with a puppet in the client's seat."""

    def change(message: Setup) -> Setup:
        table, _, other, _ = (Record(*record) for record in message.records)
        terms = open_terms(stage.document, table)
        seats = (Player(0, 99).join(terms), other)
        began = stage.dealer.match_record(terms, seats)
        return replace(message, match=body_hash(began), records=(table, *seats, began))

    return on(Setup, change)


def forged_act(stage: Stage) -> Change:
    """Let the server sign acts in the name of the other seat, with its own key."""

    def change(message: MatchRecord) -> MatchRecord:
        if message.signer != _OTHER:
            return message
        return replace(message, sig=stage.key.sign(message.body))

    return on_record("act", change)


def _plays_of_the_other(stage: Stage, change: Callable[[Act], tuple[Any, ...]]) -> Change:
    def bend(message: MatchRecord) -> MatchRecord:
        body = body_of(message)
        if not isinstance(body, Act) or (message.signer, body.kind) != (_OTHER, "play"):
            return message
        return resigned(stage, message, args=change(body))

    return on(MatchRecord, bend)


def another_card(stage: Stage) -> Change:
    """Let the other seat open a card that it does not hold."""

    def change(body: Act) -> tuple[Any, ...]:
        slot, card, salt, ask = body.args
        return slot, (card + 1) % len(stage.variant.pack), salt, ask

    return _plays_of_the_other(stage, change)


def another_slot(stage: Stage) -> Change:
    """Let the other seat open a card from another slot."""

    def change(body: Act) -> tuple[Any, ...]:
        slot, *opening = body.args
        return (slot + 1) % 3, *opening

    return _plays_of_the_other(stage, change)


def leaves(change: Callable[[Stage, Deal], tuple[bytes, ...]]) -> Cheat:
    """Return a cheat that commits to other cards for the other seat, which comes to light at the close."""

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
                _note(stage, message.k)
            return (message,)

        stage.forge, stage.recast = forge, recast

    return cheat


def swapped_leaf(_stage: Stage, body: Deal) -> tuple[bytes, ...]:
    """Return the commitments to the cards of the other seat, one of them to nothing."""
    return (secret("leaf", 1), *body.leaves[1][1:])


def unshuffled(stage: Stage, body: Deal) -> tuple[bytes, ...]:
    """Return commitments to cards for the other seat that are not from the shuffle."""
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


def wrong_score(place: Place, body: Close) -> Close:
    """Close a hand with a point too many."""
    return Close(*place, body.j, body.link, _raised(body.score), body.reason)


def wrong_close_link(place: Place, body: Close) -> Close:
    """Open a hand with a number that was not committed to."""
    return Close(*place, body.j, NO_LINK, body.score, body.reason)


def wrong_winner(place: Place, body: End) -> End:
    """End the match in favour of the side that has lost it."""
    winner = 1 - body.winner if body.winner is not None else 0
    return End(*place, body.next_index, body.links, body.xsec, body.score, winner, body.reason)


def one_counter(stage: Stage) -> None:
    """Seal all options under one counter."""
    stage.one_counter = True
    seen: list[int] = []

    def recast(message: ServerMessage) -> Iterable[ServerMessage]:
        if isinstance(message, BoxedOptions):
            seen.append(message.at)
            if len(seen) > 1:
                _note(stage, message.at - 1)
        return (message,)

    stage.recast = recast


def twisting(change: Callable[[Stage, Option], Option]) -> Cheat:
    """Return a cheat that offers options to play which are not what they say."""

    def cheat(stage: Stage) -> None:
        def twist(option: Option) -> Option:
            if option.kind != "play":
                return option
            _note(stage, stage.at_play().k - 1)
            return change(stage, option)

        stage.twist = twist

    return cheat


def foreign_card(stage: Stage, option: Option) -> Option:
    """Let an option open the next card of the pack."""
    slot, card, *rest = option.args
    return option._replace(args=(slot, (int(str(card)) + 1) % len(stage.variant.pack), *rest))


def another_line(_stage: Stage, option: Option) -> Option:
    """Let an option say that it concedes."""
    return option._replace(line="concede")


def in_clear(_stage: Stage) -> Change:
    """Offer to concede, without a box."""

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


def nonce_again(stage: Stage) -> None:
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
    terms = dealer.terms(
        stage.variant, seats=stage.seats, opts=stage.opts, name="a server", opened=1_700_000_001
    )
    return terms.record


def two_histories(stage: Stage) -> None:
    """Lose the connection after a record, and afterwards send another in its place."""

    async def lose(at: Stage, message: AnyAct) -> None:
        await at.take(at.record_of(message))
        await at.drop()

    async def intercept(message: ClientMessage) -> bool:
        if not isinstance(message, Resume):
            return False
        k = len(stage.records) - 1 if stage.cheated_at is None else stage.cheated_at
        stage.cheated_at = k
        place, honest = place_of(stage, k), stage.message(k)
        await stage.push(instead(stage, honest, ruled_out(place, stage.at_play().deal_index)))
        await stage.push(Ok(re=message.id, k=k + 1))
        await stage.go_on()
        return True

    stage.intercepts.append(intercept)
    on_choice(lose, number=2)(stage)


def skipped(stage: Stage) -> None:
    """Leave a record out, once."""

    def skip(record: ServerMessage) -> tuple[()]:
        stage.cheated_at = record.k if isinstance(record, MatchRecord) else None
        return ()

    at_first(
        stage,
        lambda message: isinstance(message, MatchRecord) and tag_of_body(message.body) == "draw",
        skip,
    )
