"""A match as a row of stages, one after each record of its transcript: what lay on the table, and who could see what.

Every record is checked on the way; one that fails is the last stage. A card is named as known in the end, with the
stage that laid it open, so that a stage can be viewed with all cards open, or as one seat, or everybody, saw it.
"""

from collections.abc import Iterable
from enum import StrEnum
from functools import reduce
from typing import Final, NamedTuple

from truc_client.happenings import Fact
from truc_protocol.audit import Refutation, Verdict
from truc_protocol.setup import MatchTerms
from truc_terminal.replay_model.annotating import (
    Annotated,
    Annotator,
    CommittedHand,
    OpenedCard,
    OpenedDeal,
    OpenedLink,
)
from truc_terminal.replay_model.board import LaidCard, LaidTrick, ShownHand, board_of, remembered, score_of
from truc_terminal.replay_model.retelling import RecordTelling

_CLOSED: Final[Fact] = {"what": "hand_closed"}


class CardState(StrEnum):
    """Where a card is: held, played, played face down, or shown without being played."""

    HELD = "held"
    PLAYED = "played"
    COVERED = "covered"
    SHOWN = "shown"


class SeatCard(NamedTuple):
    """A card of a seat.

    Attributes:
        card: its name; None if it is not known: the transcript never opens it, or the viewer may not see it.
        opened: the number of the stage that laid it open to everybody; None if none does.
    """

    slot: int
    card: str | None
    state: CardState
    opened: int | None

    def is_open(self, number: int) -> bool:
        """Tell whether a stage, or one before it, has laid the card open."""
        return self.opened is not None and self.opened <= number


class MatchStage(NamedTuple):
    """A match after one of its records.

    Attributes:
        number: its place among the stages, from 0.
        record: the record, with all that it says.
        said: what it says, in sentences.
        hand: the number of the hand, from 1, from its call until the next call; 0 before the first.
        board: the table as everybody sees it; a finished hand stays until the next is called.
        cards: by seat, the cards of the newest deal.
        tricks: the tricks of the hand, newest last.
        shares: whose cards were shown to whom: (giver, receiver).
        waiting: the seats waited for.
    """

    number: int
    record: Annotated
    said: tuple[str, ...]
    hand: int
    board: ShownHand
    cards: tuple[tuple[SeatCard, ...], ...] = ()
    tricks: tuple[LaidTrick, ...] = ()
    shares: tuple[tuple[int, int], ...] = ()
    waiting: tuple[int, ...] = ()


class HandStages(NamedTuple):
    """A hand among the stages, and how its deal was opened.

    Attributes:
        number: its number, from 1.
        deal: the index of its deal, the last one called for it.
        first: the number of its first stage, its call.
        last: the number of its last stage, before the next hand is called.
        links: the roles whose secret number for this deal is open, each with the stage that opened it.
        recomputed: the stage that opened the whole deal; None if none does.
    """

    number: int
    deal: int
    first: int
    last: int
    links: tuple[tuple[int, int], ...] = ()
    recomputed: int | None = None


class ReplayedMatch(NamedTuple):
    """A whole match.

    Attributes:
        terms: the terms of its table; None if the transcript does not reach them.
        unreadable: why the file could not be read further, if so.
    """

    stages: tuple[MatchStage, ...]
    hands: tuple[HandStages, ...]
    terms: MatchTerms | None
    verdict: Verdict
    unreadable: Refutation | None = None


class _Known(NamedTuple):
    """The language, and the cards that a transcript opens: by (deal, sub-deal, seat, slot), the card and its stage."""

    cards: dict[tuple[int, int, int, int], tuple[str, int]]
    lang: str


def replay_of(file: bytes, *, lang: str) -> ReplayedMatch:
    """Return the match in a transcript file, told in a language."""
    annotator = Annotator(file)
    records = tuple(annotator.records())
    # First all records: a card is named in every stage, though it is opened at the close or at the end.
    terms, known = annotator.terms, _Known(_opened_cards(records), lang)
    stages: list[MatchStage] = []
    seats = terms.table.seats if terms else 0
    for record in records:
        blank = MatchStage(-1, record, (), 0, ShownHand(seats, None))
        stages.append(_next(stages[-1] if stages else blank, record, known))
    return ReplayedMatch(tuple(stages), _hands(stages), terms, annotator.verdict(), annotator.unreadable)


def seen_by(stage: MatchStage, seat: int | None) -> MatchStage:
    """Return a stage as a seat saw it, or as everybody did if None: without any card that was not known then."""
    shown = {giver for giver, receiver in stage.shares if receiver == seat}
    # A hand played blind is seen by nobody, its own seat included (specification.md, "Acts", Blind hands).
    own = () if stage.board.memory.is_blind else (seat,)
    cards = tuple(
        held if at in own or at in shown else tuple(_public(each, stage.number) for each in held)
        for at, held in enumerate(stage.cards)
    )
    return stage._replace(cards=cards)


def _public(each: SeatCard, number: int) -> SeatCard:
    return each if each.is_open(number) else each._replace(card=None)


def _opened_cards(records: tuple[Annotated, ...]) -> dict[tuple[int, int, int, int], tuple[str, int]]:
    cards: dict[tuple[int, int, int, int], tuple[str, int]] = {}
    for number, record in enumerate(records):
        for it in record.commitments:
            match it:
                case OpenedCard():
                    # The first opening counts: the close of a hand opens all its cards once more.
                    cards.setdefault((it.j, it.d, it.seat, it.slot), (it.card, number))
                case OpenedDeal():
                    for place, card in _of_deal(it):
                        cards.setdefault(place, (card, number))
                case _:
                    pass
    return cards


def _of_deal(deal: OpenedDeal) -> Iterable[tuple[tuple[int, int, int, int], str]]:
    for d, hands in enumerate(deal.hands):
        for seat, cards in enumerate(hands):
            for slot, card in enumerate(cards):
                yield (deal.j, d, seat, slot), card


def _next(before: MatchStage, record: Annotated, known: _Known) -> MatchStage:
    said = tuple(RecordTelling(record, known.lang).sentences())
    stage = before._replace(number=before.number + 1, record=record, said=said)
    for fact in record.facts:
        stage = _after(stage, fact)
    stage = stage._replace(tricks=_tricks(stage, record), board=_board(stage.board, record))
    dealt = tuple(it for it in record.commitments if isinstance(it, CommittedHand))
    if dealt:
        stage = stage._replace(cards=tuple(_dealt(hand, known) for hand in dealt), shares=())
    return stage._replace(cards=_moved(stage.cards, record))


def _dealt(hand: CommittedHand, known: _Known) -> tuple[SeatCard, ...]:
    found = (known.cards.get((hand.j, hand.d, hand.seat, slot)) for slot in range(len(hand.leaves)))
    return tuple(SeatCard(slot, *_held(it)) for slot, it in enumerate(found))


def _held(found: tuple[str, int] | None) -> tuple[str | None, CardState, int | None]:
    card, opened = found or (None, None)
    return card, CardState.HELD, opened


def _after(stage: MatchStage, fact: Fact) -> MatchStage:
    """Return a stage after one fact of its record."""
    match fact["what"]:
        case "called" if fact["cards"]:
            is_again = stage.hand > 0 and not stage.cards  # the deal called before was voided
            hand = stage.hand if is_again else stage.hand + 1
            # Only here: until now the finished hand lay on the table, with what was said in it.
            board = stage.board._replace(memory=remembered(stage.board.memory, _CLOSED))
            return stage._replace(hand=hand, board=board, cards=(), tricks=(), shares=())
        case "state":
            return stage._replace(waiting=tuple(fact.get("waiting", ())))
        case "hand_shared":
            return stage._replace(shares=(*stage.shares, (fact["giver"], fact["receiver"])))
        case _:
            return stage


def _board(before: ShownHand, record: Annotated) -> ShownHand:
    """Return the table after a record; a finished hand lies on it until the next is called, only the score goes on."""
    # It would clear the table, on which the finished hand stays.
    told = [fact for fact in record.facts if fact["what"] != "hand_closed"]
    memory = reduce(remembered, told, before.memory)
    if record.view is not None:
        return board_of(record.view, record.pack, memory)
    state = next((fact for fact in told if fact["what"] == "state"), None)
    score = before.score if state is None else score_of(state)
    return before._replace(score=score, memory=memory)


def _tricks(stage: MatchStage, record: Annotated) -> tuple[LaidTrick, ...]:
    """Return the tricks of the whole hand after a record; a view has only those of the present duel."""
    tricks, duel = stage.tricks, stage.board.duel
    for fact in record.facts:
        match fact["what"]:
            case "duel_begun":
                duel = (fact["seat"], fact["opponent"])
            case "card_played" | "card_covered":
                is_next = not tricks or tricks[-1].is_over or tricks[-1].duel != duel
                done, open_one = (tricks, LaidTrick(duel=duel)) if is_next else (tricks[:-1], tricks[-1])
                laid = (*open_one.laid, LaidCard(fact["seat"], fact.get("card")))
                tricks = (*done, open_one._replace(laid=laid))
            case "trick_won":
                tricks = _ended(tricks, side=fact["side"], best=fact["leader"])
            case "trick_tied":
                tricks = _ended(tricks)
            case _:
                pass
    return tricks


def _ended(
    tricks: tuple[LaidTrick, ...], *, side: int | None = None, best: int | None = None
) -> tuple[LaidTrick, ...]:
    """Return the tricks with the newest one finished."""
    return (*tricks[:-1], *(each._replace(is_over=True, side=side, best=best) for each in tricks[-1:]))


def _moved(cards: tuple[tuple[SeatCard, ...], ...], record: Annotated) -> tuple[tuple[SeatCard, ...], ...]:
    """Return the cards of all seats after those that a record plays, covers or shows."""
    played = {fact["card"] for fact in record.facts if fact["what"] == "card_played"}
    opened = (it for it in record.commitments if isinstance(it, OpenedCard))
    # What is opened without being played has been shown: after a flor, an envido, or by choice.
    moves = {(it.seat, it.slot): CardState.PLAYED if it.card in played else CardState.SHOWN for it in opened}
    if record.covered is not None:
        moves[record.covered] = CardState.COVERED
    return tuple(
        tuple(each._replace(state=moves.get((seat, each.slot), each.state)) for each in held)
        for seat, held in enumerate(cards)
    )


def _hands(stages: list[MatchStage]) -> tuple[HandStages, ...]:
    hands: dict[int, HandStages] = {}
    for stage in stages:
        for fact in stage.record.facts:
            if fact["what"] == "called" and stage.hand:
                first = hands[stage.hand].first if stage.hand in hands else stage.number
                # A deal that was voided has used its index up, and the
                # hand is called again: the last one has its links.
                hands[stage.hand] = HandStages(stage.hand, fact["index"], first, stage.number)
        if stage.hand:
            hands[stage.hand] = hands[stage.hand]._replace(last=stage.number)
    return tuple(_with_openings(hand, stages) for hand in hands.values())


def _with_openings(hand: HandStages, stages: list[MatchStage]) -> HandStages:
    links: dict[int, int] = {}
    recomputed = None
    # Beyond the hand too: with `reveal` = `match` a deal is opened by the end (specification.md, "Deals").
    for stage in stages:
        for it in stage.record.commitments:
            match it:
                # specification.md, "Chains": deal j opens link j + 1.
                case OpenedLink(role=role, number=number) if number == hand.deal + 1:
                    links.setdefault(role, stage.number)
                case OpenedDeal(j=hand.deal):
                    recomputed = stage.number
                case _:
                    pass
    return hand._replace(links=tuple(links.items()), recomputed=recomputed)
