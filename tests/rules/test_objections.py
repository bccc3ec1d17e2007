"""A call beside the stake that is refused says why in the game's terms: one row or more for every kind of call."""

from rows import each_row
from rules.played import action, dealt, given, played, refused

from truc_rules import Action, Kind, Seat, new_match, next_hand, preset, with_options

FOUR = ("1e 5e 4c", "7o 6c 12b", "2e 3b 4o", "11c 1o 10b")
ENVIDO = dealt("truco-argentino", *FOUR)
CALLED = played(ENVIDO, "0 envido")
SAYING = played(CALLED, "1 accept")
FLOR = dealt("truco-argentino-flor", "1e 5e 4e", "7o 6o 12o", *FOUR[2:])
DECLARED = played(FLOR, "0 flor")
FOLDED = played(DECLARED, "1 flor-fold")
QUIET = played(FLOR, "0 play 1e", "1 play 7o")
GOVERNED = played(dealt("truc-partnership", "8h Qd 7c", "Ah 10c 9d", "Qs 8c 10h", "Ac 9s Kh"), "0 stand")
ORDERED = played(GOVERNED, "0 play 8h", "1 play Ah", "0 order low")
CHANGED = played(GOVERNED, *("0 order low", "0 order high") * 8)
MINEIRO = preset("truco-mineiro")
TWO = ("3h Qd Kc", "3c Js As")
COVERED = dealt(with_options(MINEIRO, {"cover_from_trick": 2}), *TWO)
SECOND = played(COVERED, "0 play 3h", "1 play 3c")
BLIND = dealt(with_options(MINEIRO, {"blind": "on"}), *TWO, score=(11, 11))
SHOWING = played(dealt("le-truc", "8h Qd 7c", "Ah 10c 9d"), "0 stand")
THROWN = played(SHOWING, "0 raise 2", "1 decline")
TRUT = dealt("trut", "8h Qd 7c", "Ah 10c 9d")
SIX = ("1e 5o 4c", "7o 6c 12b", "2e 3b 4o", "11c 1o 10b", "3c 2c 6e", "1c 5e 7b")


DUEL = given(next_hand(played(dealt("truco-argentino-6-flor", *SIX, score=(5, 0)), "0 concede")), *SIX)


@each_row("match, line, said", [
        (SHOWING, "0 envido", "seat 0 cannot envido: there is no envido in le-truc"),
        (played(ENVIDO, "0 raise 2", "1 accept"), "0 envido", "seat 0 cannot envido: a higher stake is accepted already"),
        (played(CALLED, "1 decline"), "0 real-envido", "seat 0 cannot real-envido: envido is closed for this hand"),
        (played(ENVIDO, "0 real-envido"), "1 envido", "seat 1 cannot envido: expected its turn, an ask to be answered, or a lower call"),
        (played(ENVIDO, "0 play 1e", "1 play 7o", "2 play 2e", "3 play 11c"), "0 falta-envido", "seat 0 cannot falta-envido: expected it before its first card"),
        (FOLDED, "0 envido", "seat 0 cannot envido: a flor has been declared"),
        (CALLED, "1 raise 2", "seat 1 cannot raise to 2: expected accept or decline or envido or real-envido or falta-envido in answer to the call envido"),
        (CALLED, "1 concede", "seat 1 cannot concede: expected an answer to the call envido first"),
        (ENVIDO, "0 points 26", "seat 0 cannot points 26: values are said after an envido or a flor contest was accepted"),
        (ENVIDO, "0 good", "seat 0 cannot good: values are said after an envido or a flor contest was accepted"),
        (SAYING, "0 points 33", "seat 0 cannot points 33: it does not hold that many points"),
        (played(SAYING, "0 points 26"), "1 points 7", "seat 1 cannot points 7: expected more than 26, or another word"),
        (played(SAYING, "0 points 26", "1 silent"), "2 points 20", "seat 2 cannot points 20: expected more than 26, or another word"),
        (played(SAYING, "0 points 26", "1 silent", "2 silent"), "3 silent", "seat 3 cannot silent: a partner is neither best nor still to speak"),
        (SAYING, "0 play 1e", "seat 0 cannot play 1e: expected points or good or silent in answer to the saying of envido values"),
        (ENVIDO, "0 flor", "seat 0 cannot flor: there is no flor in truco-argentino"),
        (dealt("truco-argentino-flor", *FOUR), "0 flor", "seat 0 cannot flor: it holds no flor"),
        (dealt("truco-argentino-flor", *FOUR), "0 contraflor", "seat 0 cannot contraflor: it holds no flor"),
        (FLOR, "0 contraflor", "seat 0 cannot contraflor: expected an opponent's flor to answer"),
        (FOLDED, "0 flor", "seat 0 cannot flor: it has declared its flor"),
        (played(QUIET, "2 play 2e", "3 play 11c"), "0 flor", "seat 0 cannot flor: expected it before its first card"),
        (DECLARED, "1 points 33", "seat 1 cannot points 33: values are said after an envido or a flor contest was accepted"),
        (ENVIDO, "0 claim 1", "seat 0 cannot claim 1: no flor is claimed in truco-argentino"),
        (FLOR, "0 claim 1", "seat 0 cannot claim 1: expected seat 1 to have played its first card"),
        (FLOR, "0 claim 2", "seat 0 cannot claim 2: expected an opponent, 1 or 3"),
        (played(QUIET, "0 claim 1"), "2 claim 1", "seat 2 cannot claim 1: a flor of seat 1 is claimed already"),
        (played(DECLARED, "1 flor", "0 points 30", "1 good"), "0 claim 1", "seat 0 cannot claim 1: seat 1 has declared its flor"),
        (DUEL, "3 claim 4", "seat 3 cannot claim 4: it does not play in this duel"),
        (ENVIDO, "0 order low", "seat 0 cannot order low: there are no orders in truco-argentino"),
        (SHOWING, "0 order low", "seat 0 cannot order low: there are no orders in le-truc"),
        (GOVERNED, "2 order low", "seat 2 cannot order low: only the governor of a side orders"),
        (ORDERED, "0 order low", "seat 0 cannot order low: this order is in force already"),
        (CHANGED, "0 order low", "seat 0 cannot order low: its partner has had 16 orders for this card"),
        (ORDERED, "2 play Qs", "seat 2 cannot play Qs: its governor ordered low"),
        (ORDERED, "2 play 7s", "seat 2 cannot play 7s: it does not hold that card"),
        (GOVERNED, "2 concede", "seat 2 cannot concede: a hand is given up by the governor of a side"),
        (SHOWING, "0 show 8h", "seat 0 cannot show 8h: cards are shown when the hand is over"),
        (THROWN, "0 show Ah", "seat 0 cannot show Ah: expected unplayed cards of its own"),
        (played(THROWN, "0 show 8h"), "0 show 8h", "seat 0 cannot show 8h: expected unplayed cards of its own"),
        (THROWN, "0 play 8h", "seat 0 cannot play 8h: the hand is over"),
        (played(TRUT, "0 raise trut", "1 decline"), "0 show 8h", "seat 0 cannot show 8h: no cards are shown by choice in trut"),
        (dealt(MINEIRO, *TWO), "0 cover 3h", "seat 0 cannot cover 3h: no card is played face down in truco-mineiro"),
        (COVERED, "0 cover 3h", "seat 0 cannot cover 3h: no card is played face down before trick 2"),
        (SECOND, "0 cover 2c", "seat 0 cannot cover 2c: it does not hold that card"),
        (played(SECOND, "0 raise 3"), "1 cover Js", "seat 1 cannot cover Js: the stake 3 is not accepted yet, expected accept or decline or raise"),
        (SECOND, "0 blind 1", "seat 0 cannot blind 1: cards are played unseen only in a blind hand"),
        (BLIND, "0 blind 3", "seat 0 cannot blind 3: expected one of the slots 0, 1, 2"),
        (BLIND, "0 play 3h", "seat 0 cannot play 3h: the cards of this hand are played unseen"),
        (TRUT, "0 raise rest", "seat 0 cannot raise to rest: expected trut over the stake 1"),
        (played(TRUT, "0 raise trut", "1 accept"), "0 raise trut", "seat 0 cannot raise to trut: the stake is the whole trut already"),
        (played(TRUT, "0 raise trut"), "1 raise 2", "seat 1 cannot raise to 2: the stake trut is not accepted yet, expected accept or decline"),
        (ENVIDO, "0 resign", "seat 0 cannot resign: expected raise or play or concede or envido or real-envido or falta-envido"),
    ])  # fmt: skip
def test_a_call_that_is_refused_says_why(match, line, said):
    assert refused(match, action(match, line)) == ("illegal_action", said)


@each_row("match, line, said",
    [
        (ENVIDO, "1 envido", "seat 1 cannot envido: expected seat 0 to play"),
        (CALLED, "2 accept", "seat 2 cannot accept: expected seat 1 or seat 3 to answer the call envido"),
        (SAYING, "1 good", "seat 1 cannot good: expected seat 0 to answer the saying of envido values"),
        (FLOR, "1 flor", "seat 1 cannot flor: expected seat 0 to play"),
        (DECLARED, "0 play 1e", "seat 0 cannot play 1e: expected seat 1 to answer the flor"),
        (played(DECLARED, "1 contraflor"), "1 accept", "seat 1 cannot accept: expected seat 0 to answer the call contraflor"),
        (played(DECLARED, "1 flor"), "1 good", "seat 1 cannot good: expected seat 0 to answer the saying of flor values"),
        (ENVIDO, "1 concede", "seat 1 cannot concede: expected seat 0 to play"),
        (SECOND, "1 cover Js", "seat 1 cannot cover Js: expected seat 0 to play"),
        (DUEL, "2 envido", "seat 2 cannot envido: expected seat 1 to play"),
    ],
)  # fmt: skip
def test_a_call_out_of_turn_names_who_is_waited_for(match, line, said):
    assert refused(match, action(match, line)) == ("not_your_turn", said)


@each_row(
    "match, chosen, said",
    [
        (
            GOVERNED,
            Action(Seat(0), Kind.ORDER, (), "up"),
            "seat 0 cannot order up: expected one of A, K, Q, J, 10, 9, 8, 7, low, high, leave",
        ),
        (ORDERED, Action(Seat(2), Kind.PLAY), "seat 2 cannot play: it does not hold that card"),
    ],
)
def test_an_order_or_a_card_that_does_not_exist_is_refused(match, chosen, said):
    assert refused(match, chosen)[1] == said


def test_an_order_after_the_partners_last_card_is_refused():
    match = played(
        dealt("truc-partnership", "9s 9h 8c", "10s 10h 10c", "Js Ah Kc", "Qs 9d 9c"),
        *("0 stand", "0 play 9s", "1 play 10s", "2 play Js", "3 play Qs"),
        *("3 play 9d", "0 play 9h", "1 play 10h", "2 play Ah", "2 play Kc"),
    )
    said = refused(match, action(match, "0 order low"))[1]
    assert said == "seat 0 cannot order low: its partner has no card left"


def test_before_the_deal_there_is_nothing_to_show():
    match = new_match(preset("le-truc"), seats=2, dealer=Seat(1))
    assert refused(match, Action(Seat(0), Kind.SHOW, (0,)))[1].endswith(
        "cards are shown when the hand is over"
    )


def test_a_flor_that_was_played_over_in_silence_is_too_late_for_the_contest():
    match = played(FLOR, "0 play 1e", "1 flor", "1 play 7o", "2 play 2e", "3 play 11c")
    assert match.hand.row.leader == 0
    said = refused(match, action(match, "0 flor"))[1]
    assert said == "seat 0 cannot flor: the flor contest is closed for this hand"
