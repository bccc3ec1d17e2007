"""What a player's screen was told of a match, made again from its transcript: happenings, and what they were asked and chose.

The options are those of the rules, not those that came over the wire. A match must have been played to its end.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from truc_client.happenings import (
    CardsDealt,
    Happening,
    MatchEnded,
    MatchStarted,
    MoveChoice,
    RecordSeen,
    YourTurn,
)
from truc_client.matches.telling import view_of
from truc_protocol.acts import read_act
from truc_protocol.audit import Auditor
from truc_protocol.bodies import Act
from truc_protocol.ledger import Ledger, learn
from truc_protocol.records import Record, parse
from truc_protocol.transcript import read_document_item, read_records
from truc_rules import Seat, described, legal
from truc_terminal.replay_model.annotating import Annotated, Annotator, CommittedHand, OpenedDeal


class Decision(NamedTuple):
    """What the player was asked, and what they chose."""

    turn: YourTurn
    choice: MoveChoice


Hands = Mapping[tuple[int, int], tuple[str, ...]]
"""The player's cards by deal and sub-deal."""


def happenings(transcript: Path, seat: Seat) -> Iterator[Happening | Decision]:
    """Yield what the player of a seat was told and did, in the order of the records."""
    file = transcript.read_bytes()
    annotator = Annotator(file)
    annotated = tuple(annotator.records())
    hands = _own_hands(annotated, seat)
    document, rest = read_document_item(file)
    auditor = Auditor(document)
    cards: tuple[str, ...] = ()
    for record, each in zip(read_records(file, rest), annotated, strict=True):
        before = auditor.ledger
        if before is not None:
            yield from _decision(before, record, seat, cards)
        auditor.feed(record)
        after = auditor.ledger
        if before is None and after is not None:
            yield _started(after, each, seat, transcript)
        elif after is not None:
            yield RecordSeen(each.place, each.kind, each.facts, view=view_of(after, seat))
        for committed in each.commitments:
            if isinstance(committed, CommittedHand) and committed.seat == seat:
                cards = hands[committed.j, committed.d]
                yield CardsDealt(cards)
    yield MatchEnded(annotator.verdict(), transcript)


def _own_hands(records: tuple[Annotated, ...], seat: Seat) -> Hands:
    return {
        (deal.j, d): hands[seat]
        for each in records
        for deal in each.commitments
        if isinstance(deal, OpenedDeal)
        for d, hands in enumerate(deal.hands)
    }


def _started(ledger: Ledger, begun: Annotated, seat: Seat, transcript: Path) -> MatchStarted:
    variant = ledger.setup.terms.variant
    return MatchStarted(
        ledger.setup.mid,
        variant.name,
        variant.pack,
        begun.names,
        seat,
        ledger.setup.level,
        transcript,
        words=variant.words,
        target=variant.scoring.target,
        rules=variant,
    )


def _decision(ledger: Ledger, record: Record, seat: Seat, cards: tuple[str, ...]) -> Iterator[Decision]:
    """Yield a decision if the record is the player's."""
    body = parse(record)
    if not isinstance(body, Act) or body.seat != seat:
        return
    pack = ledger.setup.terms.variant.pack
    match = learn(ledger, seat, [pack.index(card) for card in cards]).match
    if match is None:
        raise ValueError("expected a match that has begun")
    actions = legal(match, seat)
    choices = {
        action: MoveChoice(line, str(action.kind), dict(hints))
        for action, (line, hints) in zip(actions, described(match, actions), strict=True)
    }
    turn = YourTurn(ledger.k, 0, tuple(choices.values()), must=True, deadline_ms=None)
    chosen = read_act(seat, body.kind, body.args, deck=len(pack))
    yield Decision(turn, choices[chosen.action])
