"""Signs: the words of each game, who sees them, and the truth where it is enforced (rules.md 6.4, 12, 13b.13)."""

from dataclasses import replace

import pytest
from rows import each_row
from rules.played import dealt, known, played, signs

from truc_rules import (
    SIGNS,
    IllegalActionError,
    Seat,
    check_sign,
    know,
    new_match,
    preset,
    presets,
    sign_receivers,
    with_options,
)

HANDS = ("7s 8h Kd", "Ah Jc 9s", "8d Qs 9h", "7h Kc 10s")
SPANISH = ("1e 7o 4c", "3b 12o 6e", "2c 11b 5o", "10e 4b 6c")


def partnership(*hands, dealer=3):
    """Return a hand of partnership Truc before the lead; seat 3 deals, so that seats 3 and 0 govern."""
    return dealt("truc-partnership", *(hands or HANDS), dealer=dealer)


def catalan(**options):
    return dealt(with_options(preset("truc-catalan"), options), *SPANISH, before=("2 cut",))


def argentine(*hands):
    return dealt("truco-argentino", *hands)


def refusal(match, seat, word):
    with pytest.raises(IllegalActionError) as caught:
        check_sign(match, Seat(seat), word)
    return caught.value


@each_row("name", presets())
def test_words_of_a_preset_are_in_the_vocabulary(name):
    signals = preset(name).signals
    assert signals is None or set(signals.vocabulary) <= set(SIGNS)


# Who sees a sign


@each_row(
    "match, seat, seen",
    [
        (catalan(), 1, (3,)),
        (argentine(*SPANISH, "1b 3e 12c", "2e 3o 7c"), 4, (0, 2)),
        (argentine(*SPANISH[:2]), 0, ()),
        (catalan(signals="table"), 1, (0, 2, 3)),
        (catalan(signals="off"), 1, ()),
        # nobody has a partner, so that nobody signs, even to the table
        (dealt(with_options(preset("truco-argentino"), {"signals": "table"}), *SPANISH[:2]), 0, ()),
        # nobody sits there
        (catalan(), -1, ()),
        (catalan(), 4, ()),
    ],
)
def test_a_sign_is_seen_by_partners_or_where_the_table_says_so_by_all(match, seat, seen):
    assert sign_receivers(match, Seat(seat)) == seen


@each_row("dealer, seen", [(3, [(), (3,), (0,), ()]), (0, [(), (), (0,), (1,)])])
def test_only_governors_see_signs_and_never_make_them(dealer, seen):
    match = partnership(dealer=dealer)
    assert [sign_receivers(match, Seat(seat)) for seat in range(4)] == seen


# What may be signed


def test_only_true_words_may_be_signed_where_truth_is_enforced_until_the_card_is_played():
    untrue = "signs are true in this game, and it holds no such card unplayed"
    match = partnership()
    assert signs(match, 1) == ("ace",)
    error = refusal(match, 2, "seven")
    assert (error.code, error.message) == ("illegal_action", f"seat 2 cannot sign seven: {untrue}")
    once = ("0 stand", "0 play Kd", "1 play Ah")
    assert untrue in refusal(played(match, *once), 1, "ace").message
    two_aces = partnership("7s 8h Kd", "Ah Ac 9s", "8d Qs 9h", "7h Kc 10s")
    assert signs(played(two_aces, *once), 1) == ("ace",)


def test_single_card_is_claimed_by_a_word_of_its_own():
    enforced = replace(preset("truco-mineiro").signals, truth="enforced")
    variant = replace(preset("truco-mineiro"), signals=enforced)
    match = dealt(variant, "4c 3s Kd", "Ah Jc 7s", "7h Qs 6h", "As Kc 4s")
    assert [signs(match, seat) for seat in range(4)] == [
        ("zap", "three"),
        (),
        ("seven-hearts",),
        ("ace-spades",),
    ]


def test_unknown_card_may_be_the_one_signed_until_all_are_known():
    assert signs(partnership(HANDS[0], "? ? ?", *HANDS[2:]), 1) == ("seven", "eight", "ace")
    match = partnership(HANDS[0], "Jc 9s ?", *HANDS[2:])
    assert signs(know(match, Seat(1), 2, known(match.variant, "8c")), 1) == ("eight",)


# When


@each_row(
    "match, seat, word, said",
    [
        (catalan(), 1, "wink\x07", "seat 1 cannot sign that: expected three or two or ace"),
        (catalan(), 7, "three", "seat 7 cannot sign: expected a seat of 0 to 3"),
        (partnership(), 3, "seven", "seat 3 cannot sign: the governor gives orders, its partner signs"),
        (played(catalan(), "0 raise 2", "1 decline"), 1, "three", "seat 1 cannot sign: the hand is over"),
        (argentine(*SPANISH[:2]), 0, "three", "seat 0 cannot sign: it has no partner"),
        *(
            (
                new_match(preset(name), seats=2, dealer=Seat(0)),
                0,
                "three",
                "seat 0 cannot sign: this table is played without signs",
            )
            for name in ("truc-french", "put")
        ),
        (
            new_match(preset("truc-catalan"), seats=4, dealer=Seat(3)),
            1,
            "three",
            "seat 1 cannot sign: the cards are not dealt yet",
        ),
    ],
)
def test_sign_that_cannot_be_made_is_refused_with_the_reason(match, seat, word, said):
    assert refusal(match, seat, word).message == said


def blind_hand(truth):
    """Return a hand in which both sides are at their last point, in a game whose signs are true or free."""
    paulista = with_options(preset("truco-paulista"), {"blind": "on"})
    variant = replace(paulista, signals=replace(paulista.signals, vocabulary=("three",), truth=truth))
    last = paulista.scoring.target - 1
    return dealt(variant, "3c 4h 5d", "6s 7h Kc", "4s 5c 6d", "Jh Qd As", score=(last, last), turn="2c")


def test_blind_hand_has_free_signs_and_no_true_ones():
    assert check_sign(blind_hand("free"), Seat(1), "three") is None
    said = refusal(blind_hand("enforced"), 0, "three").message
    assert said == "seat 0 cannot sign: nobody has seen the cards of this hand"
