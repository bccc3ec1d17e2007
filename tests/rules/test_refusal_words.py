"""A refusal says, in the game's terms, what was expected and what came; it names no card that is not known."""

from dataclasses import replace

from rows import each_row
from rules.played import action, dealt, played, refused

from truc_rules import Action, Kind, Seat, new_match, preset

CATALAN, FRENCH, LANES = (preset(name) for name in ("truc-catalan", "truc-french", "truc-lanes"))
FOUR = ("3o 12c 4e", "3c 7b 5o", "2e 6c 1b", "2b 10e 4c")
TWO = ("3o 7e 4b", "2o 1e 5c")
HANDS = ("8h Jd 9c", "Ks 7d 10h")
BEGUN = new_match(CATALAN, seats=4, dealer=Seat(3))
CATALAN_4 = dealt(CATALAN, *FOUR, before=["2 cut"])
CATALAN_2 = dealt(CATALAN, *TWO, before=["0 cut"])
FRENCH_2 = dealt(FRENCH, *HANDS)
ON_TURN = dealt(replace(LANES, redeal=None, concede="on_turn"), *HANDS)
STOOD = played(FRENCH_2, "0 stand")


@each_row("match, line, code, said", [
        (BEGUN, "0 cut", "not_your_turn", "seat 0 cannot cut: expected seat 2 to cut or tap"),
        (BEGUN, "2 stand", "illegal_action", "seat 2 cannot stand: expected cut or tap"),
        (played(BEGUN, "2 tap"), "2 deal 1", "not_your_turn", "seat 2 cannot deal 1: expected seat 3 to deal three cards or one"),
        (played(BEGUN, "2 cut"), "0 play 3o", "illegal_action", "seat 0 cannot play 3o: the cards are not dealt yet"),
        (FRENCH_2, "1 play Ks", "not_your_turn", "seat 1 cannot play Ks: expected seat 0 to stand or propose a redeal"),
        (FRENCH_2, "0 play 8h", "illegal_action", "seat 0 cannot play 8h: expected redeal or stand or concede"),
        (played(FRENCH_2, "0 redeal"), "0 play 8h", "not_your_turn", "seat 0 cannot play 8h: expected seat 1 to answer the proposed redeal"),
        (played(FRENCH_2, "0 redeal"), "1 play Ks", "illegal_action", "seat 1 cannot play Ks: expected accept or decline in answer to the proposed redeal"),
        (played(FRENCH_2, "0 redeal"), "1 concede", "illegal_action", "seat 1 cannot concede: expected an answer to the proposed redeal first"),
        (played(STOOD, "0 raise 2"), "1 raise 4", "illegal_action", "seat 1 cannot raise to 4: the stake 2 is not accepted yet, expected accept or decline"),
        (played(STOOD, "0 raise 2"), "1 redeal", "illegal_action", "seat 1 cannot redeal: expected accept or decline in answer to the ask for 2"),
        (played(STOOD, "0 raise rest"), "1 accept", "illegal_action", "seat 1 cannot accept: expected raise or decline in answer to the ask for the remainder"),
        (played(STOOD, "0 raise rest"), "1 play Ks", "illegal_action", "seat 1 cannot play Ks: the remainder is not accepted yet, expected raise or decline"),
        (played(STOOD, "0 raise rest", "1 raise rest"), "0 raise 2", "illegal_action", "seat 0 cannot raise to 2: the stake is the whole game already"),
        (played(STOOD, "0 raise 2", "1 accept"), "0 raise 4", "illegal_action", "seat 0 cannot raise to 4: it has made the offer of this turn"),
        (STOOD, "0 raise 3", "illegal_action", "seat 0 cannot raise to 3: expected 2 or rest over the stake 1"),
        (STOOD, "0 play 8h raise 2", "illegal_action", "seat 0 cannot play 8h and raise to 2: an ask is made before one's card"),
        (STOOD, "0 accept", "illegal_action", "seat 0 cannot accept: expected raise or play or concede"),
        (STOOD, "1 raise 2", "not_your_turn", "seat 1 cannot raise to 2: expected seat 0 to play"),
        (played(STOOD, "0 concede"), "1 concede", "illegal_action", "seat 1 cannot concede: the hand is over"),
        (CATALAN_2, "0 concede", "illegal_action", "seat 0 cannot concede: a hand is given up only by declining an ask"),
        (ON_TURN, "1 concede", "not_your_turn", "seat 1 cannot concede: expected seat 0 to play"),
        (new_match(FRENCH, seats=2, dealer=Seat(1)), "1 concede", "illegal_action", "seat 1 cannot concede: the cards are not dealt yet"),
        (CATALAN_2, "0 raise 3", "illegal_action", "seat 0 cannot raise to 3: expected 2 over the stake 1"),
        (CATALAN_2, "0 play 3o raise 3", "illegal_action", "seat 0 cannot play 3o and raise to 3: expected 2 over the stake 1"),
        (CATALAN_2, "0 play 2o", "illegal_action", "seat 0 cannot play 2o: it does not hold that card"),
        (played(CATALAN_2, "0 raise 2"), "1 play 2o", "illegal_action", "seat 1 cannot play 2o: the stake 2 is not accepted yet, expected accept or decline or raise"),
        (played(CATALAN_2, "0 play 4b raise 2"), "1 play 3o", "illegal_action", "seat 1 cannot play 3o: it does not hold that card"),
        (played(CATALAN_2, "0 play 4b raise 2"), "1 play 2o raise 4", "illegal_action", "seat 1 cannot play 2o and raise to 4: the stake 2 is not accepted yet, expected accept or decline or raise or play"),
        (played(CATALAN_2, "0 raise 2"), "1 raise 4", "illegal_action", "seat 1 cannot raise to 4: expected 3 over the stake 2"),
        (played(CATALAN_2, "0 raise 2", "1 accept"), "0 raise 3", "illegal_action", "seat 0 cannot raise to 3: only side 1 may ask now"),
        (played(CATALAN_2, "0 raise 2", "1 raise 3", "0 accept", "0 play 3o"), "1 raise 4", "illegal_action", "seat 1 cannot raise to 4: only side 0 may ask now"),
        (played(CATALAN_2, "0 raise 2", "1 raise 3", "0 accept"), "0 raise 4", "illegal_action", "seat 0 cannot raise to 4: no higher stake than 3 is left"),
        (played(CATALAN_2, "0 raise 2", "1 raise 3"), "0 raise 4", "illegal_action", "seat 0 cannot raise to 4: no higher stake than 3 is left"),
        (dealt(CATALAN, *TWO, score=(11, 0), before=["0 cut"]), "0 raise 2", "illegal_action", "seat 0 cannot raise to 2: expected accept or decline in answer to whether its side plays at its last point"),
        (played(CATALAN_2, "0 play 4b", "1 play 5c"), "0 raise 2", "void_bet", "seat 0 cannot raise to 2: the next seat has played its card"),
        (played(CATALAN_4, "0 raise 2"), "2 accept", "not_your_turn", "seat 2 cannot accept: expected seat 1 or seat 3 to answer the ask for 2"),
        (dealt(CATALAN, *TWO, score=(11, 0), before=["0 cut"]), "1 accept", "not_your_turn", "seat 1 cannot accept: expected seat 0 to answer whether its side plays at its last point"),
        (played(dealt(CATALAN, *TWO, score=(11, 0), before=["0 cut"]), "0 accept"), "0 raise 2", "illegal_action", "seat 0 cannot raise to 2: there is no betting in this hand any more"),
    ])  # fmt: skip
def test_a_refusal_says_what_was_expected_and_what_came(match, line, code, said):
    assert refused(match, action(match, line)) == (code, said)


def test_the_card_that_decides_the_hand_carries_no_ask():
    match = played(CATALAN_2, "0 play 3o", "1 play 5c", "0 play 4b", "1 play 2o", "1 play 1e")
    assert refused(match, action(match, "0 play 7e raise 2"))[1].endswith("the hand is decided by that card")


@each_row(
    "match, chosen, said",
    [
        (FRENCH_2, Action(Seat(2), Kind.STAND), "seat 2 cannot stand: expected a seat of 0 to 1"),
        (
            STOOD,
            Action(Seat(0), Kind.PLAY, (99,)),
            "seat 0 cannot play a card outside the pack: it does not hold that card",
        ),
    ],
)
def test_a_seat_or_a_card_that_is_not_there_is_refused(match, chosen, said):
    assert refused(match, chosen) == ("illegal_action", said)


def test_no_refusal_lists_the_cards_held():
    texts = [refused(STOOD, action(STOOD, line))[1] for line in ("0 play 7s", "0 raise 3", "0 accept")]
    assert not any(card in text for text in texts for card in HANDS[0].split())


def test_nobody_concedes_before_the_cut():
    match = new_match(replace(CATALAN, concede="any"), seats=2, dealer=Seat(1))
    said = refused(match, Action(Seat(1), Kind.CONCEDE))
    assert said == ("illegal_action", "seat 1 cannot concede: expected a hand whose cards are dealt")


def test_before_the_play_nobody_concedes_on_turn():
    match = dealt(replace(LANES, concede="on_turn"), *HANDS)
    said = refused(match, action(match, "0 concede"))
    assert said == ("illegal_action", "seat 0 cannot concede: a hand is given up on one's turn to play")


def test_a_late_ask_for_what_was_never_open_is_out_of_turn():
    match = dealt(CATALAN, *TWO, score=(11, 11), before=["0 cut"])
    said = refused(played(match, "0 play 4b", "1 play 5c"), Action(Seat(0), Kind.RAISE, (), 2))
    assert said == ("not_your_turn", "seat 0 cannot raise to 2: expected seat 1 to play")


@each_row("line", ["3 good", "3 accept", "3 play 4c", "3 raise 2"])
def test_no_refusal_tells_who_else_holds_a_flor(line):
    # rules.md 8.6: seat 2 may answer the contraflor with a flor it has not declared; only itself can tell
    opened = ("0 flor", "1 contraflor")
    told = []
    for partner in ("4b 5b 6b", "4b 5b 10c"):
        match = played(dealt("truco-argentino-flor", "4e 5e 6e", "4o 5o 6o", partner, "4c 5c 11b"), *opened)
        told.append(refused(match, action(match, line)))
    assert told[0] == told[1]
