"""A match as a row of stages: what lay on the table after each record, and who could see what."""

from itertools import pairwise

from client.viewed import FRENCH, KEPT, TRANSCRIPTS, replayed_file
from rows import each_row

from truc_terminal.replay_model.stages import CardState, ReplayedMatch, seen_by


def cards_at(replayed: ReplayedMatch, number: int, seat: int | None) -> list[str | None]:
    return [each.card for held in seen_by(replayed.stages[number], seat).cards for each in held]


@each_row("file", TRANSCRIPTS)
def test_every_transcript_has_a_stage_for_each_record_that_says_something_and_hands_without_gaps(file):
    replayed = replayed_file(file)
    play = [stage for stage in replayed.stages if not stage.record.is_setup]
    assert [stage.record.place for stage in play] == list(range(len(play)))
    assert len(play) >= replayed.verdict.records
    assert [hand.number for hand in replayed.hands] == list(range(1, len(replayed.hands) + 1))
    assert all(before.last + 1 == hand.first for before, hand in pairwise(replayed.hands))
    assert replayed.stages[-1].board.score == replayed.verdict.score
    assert [stage.number for stage in replayed.stages if not stage.said] == []
    for stage in replayed.stages:
        laid = sorted((at.seat, at.card or "") for trick in stage.tricks for at in trick.laid)
        gone = sorted(
            (seat, "" if each.state is CardState.COVERED else each.card)
            for seat, held in enumerate(stage.cards)
            for each in held
            if each.state in (CardState.PLAYED, CardState.COVERED)
        )
        assert laid == gone


def test_proven_match_has_every_deal_recomputed_and_every_card_open() -> None:
    replayed = replayed_file(FRENCH)
    assert all(hand.recomputed is not None for hand in replayed.hands)
    assert all(each.card for stage in replayed.stages for held in stage.cards for each in held)


def test_seat_sees_its_own_cards_and_of_others_what_is_open() -> None:
    replayed = replayed_file(FRENCH)
    dealt = next(stage.number for stage in replayed.stages if stage.record.kind == "deal")
    own = [each.card for each in replayed.stages[dealt].cards[0]]
    assert cards_at(replayed, dealt, 0) == [*own, None, None, None]
    assert cards_at(replayed, dealt, None) == [None] * 6


def test_blind_hand_is_seen_by_nobody_before_it_is_played_and_told_so() -> None:
    replayed = replayed_file(KEPT / "paulista-4-blind.truc")
    blind = next(stage for stage in replayed.stages if stage.board.memory.is_blind and stage.cards)
    assert {each.card for held in seen_by(blind, 0).cards for each in held} == {None}
    unseen = [stage for stage in replayed.stages if stage.record.is_unseen]
    assert len(unseen) == 8
    assert unseen[0].said == ('"player 2" plays a card that nobody has seen',)


def test_partner_is_seen_once_its_hand_was_shared() -> None:
    replayed = replayed_file(KEPT / "paulista-4-blind.truc")
    shared = next(stage for stage in replayed.stages if stage.shares)
    giver, receiver = shared.shares[0]
    assert all(each.card for each in seen_by(shared, receiver).cards[giver])
    assert not any(each.card for each in seen_by(shared, None).cards[giver])


def test_hand_called_again_after_a_void_keeps_its_number() -> None:
    replayed = replayed_file(KEPT / "truc-catalan-4.truc")
    void = next(stage for stage in replayed.stages if stage.record.kind == "void")
    called = next(stage for stage in replayed.stages[void.number :] if stage.record.kind == "call")
    assert called.hand == void.hand
