"""What a seat may see, and the figures beside its options."""

from rows import each_row
from rules.played import action, dealt, played

from truc_rules import Seat, deciders, described, is_blind, new_match, preset, view, with_options

CATALAN, FRENCH, LANES = (preset(name) for name in ("truc-catalan", "truc-french", "truc-lanes"))
HANDS = ("8h Jd 9c", "Ks 7d 10h")


def hinted(match, line):
    return dict(described(match, [action(match, line)])[0].hints)


def test_a_seat_sees_its_cards_and_the_number_of_the_others_and_a_spectator_the_table_alone():
    match = played(dealt(FRENCH, *HANDS), "0 stand", "0 play Jd")
    seen, watched = view(match, Seat(0)), view(match, None)
    assert seen.cards == match.hand.dealt.cards[0]
    assert seen.row.left == ((0, 2), (0, 1, 2))
    assert (watched.cards, watched.row.table) == ((), (FRENCH.pack.index("Jd"),))
    asked = played(match, "1 play Ks", "1 raise 2")
    assert view(asked, None).deciders == deciders(asked)
    assert view(asked, Seat(0)).offers == asked.hand.offers


def test_before_the_deal_there_is_nothing_to_see():
    seen = view(new_match(FRENCH, seats=2, dealer=Seat(0)), Seat(0))
    assert (seen.cards, seen.row.left, seen.deciders) == ((), (), ())


def test_the_redealt_cards_of_others_are_nowhere_in_a_view():
    match = played(dealt(FRENCH, *HANDS), "0 redeal", "1 accept")
    assert view(match, Seat(0)) == view(
        played(dealt(FRENCH, "8h Jd 9c", "? ? ?"), "0 redeal", "1 accept"), Seat(0)
    )


CUT = {"before": ["0 cut"]}
SPANISH = ("3o 7e 4b", "2o 1e 5c")


@each_row(
    "match, line, figures",
    [
        (played(dealt(FRENCH, *HANDS), "0 stand"), "0 raise 2", {"stake": 2, "declined": 1}),
        (played(dealt(FRENCH, *HANDS), "0 stand"), "0 raise rest", {"stake": "game", "declined": 1}),
        (played(dealt(FRENCH, *HANDS), "0 stand"), "0 play 8h", {}),
        (played(dealt(FRENCH, *HANDS), "0 stand"), "0 concede", {"loses": 1}),
        (dealt(FRENCH, *HANDS), "0 stand", {}),
        (played(dealt(FRENCH, *HANDS), "0 redeal"), "1 accept", {}),
        (played(dealt(FRENCH, *HANDS), "0 redeal"), "1 decline", {}),
        (played(dealt(FRENCH, *HANDS), "0 stand", "0 raise 2"), "1 accept", {"stake": 2}),
        (played(dealt(FRENCH, *HANDS), "0 stand", "0 raise 2"), "1 decline", {"loses": 1}),
        (played(dealt(FRENCH, *HANDS), "0 stand", "0 raise rest"), "1 raise rest", {"stake": "game"}),
        (
            played(dealt(FRENCH, *HANDS), "0 stand", "0 raise rest", "1 raise rest"),
            "1 concede",
            {"loses": "game"},
        ),
        (played(dealt(LANES, *HANDS), "0 stand", "0 raise rest"), "1 accept", {"stake": "game"}),
        (dealt(CATALAN, *SPANISH, **CUT), "0 play 3o raise 2", {"stake": 2, "declined": 1}),
        (played(dealt(CATALAN, *SPANISH, **CUT), "0 raise 2"), "1 raise 3", {"stake": 3, "declined": 2}),
        (played(dealt(CATALAN, *SPANISH, **CUT), "0 play 3o raise 2"), "1 play 2o", {"stake": 2}),
        (dealt(CATALAN, *SPANISH, score=(11, 0), **CUT), "0 accept", {"stake": 3}),
        (dealt(CATALAN, *SPANISH, score=(11, 0), **CUT), "0 decline", {"loses": 1}),
        (played(new_match(CATALAN, seats=2, dealer=Seat(1)), "0 tap"), "1 deal 1", {"cards": 1}),
        (played(new_match(CATALAN, seats=2, dealer=Seat(1)), "0 tap"), "1 deal 3", {"cards": 3}),
        (new_match(CATALAN, seats=2, dealer=Seat(1)), "0 tap", {}),
    ],
)
def test_an_option_comes_with_its_figures(match, line, figures):
    assert hinted(match, line) == figures


FLORES = ("1b 2b 4b", "3c 6c 7c", "1o 4e 12o", "5e 6e 7e")


def declared(*hands):
    return played(dealt("truco-argentino-flor", *hands), "0 flor")


def test_who_else_holds_a_flor_or_kept_it_quiet_is_hidden_until_its_turn():
    assert view(declared(*FLORES), None) == view(declared(*FLORES[:3], "5e 6e 7o"), None)
    quiet, plain = (
        played(dealt("truco-argentino-flor", hand, "3c 6c 7c"), "0 play 4e", "1 flor")
        for hand in ("4e 5e 11e", "4e 5e 11o")
    )
    assert view(quiet, Seat(1)) == view(plain, Seat(1))
    saying = played(declared(*FLORES), "1 contraflor", "0 accept")
    assert saying.hand.offers[-1].waiting == (0, 1, 3)
    assert view(saying, Seat(2)).offers[-1].waiting == (0,)
    asked = played(declared("1b 2b 4b", "3c 6c 7c", "1o 4o 12o", "5e 6e 7o"), "1 contraflor")
    assert (deciders(asked), view(asked, None).deciders) == ((0, 2), (0,))


BLIND = with_options(preset("truco-mineiro"), {"blind": "on"})
UNSEEN = dealt(BLIND, "3h Qd Kc", "3c Js As", score=(11, 11))


def test_in_a_blind_hand_nobody_sees_a_card_before_it_is_played():
    assert is_blind(UNSEEN)
    assert view(UNSEEN, Seat(0)).cards == (None, None, None)
    assert view(played(UNSEEN, "0 blind 1"), Seat(0)).cards == (None, BLIND.pack.index("Qd"), None)
    assert not is_blind(dealt("truco-mineiro", "3h Qd Kc", "3c Js As", score=(11, 11)))


ARGENTINE = dealt("truco-argentino", "1e 5e 4c", "7o 6c 12b")
AT_LAST = dealt("truco-paulista", "3h Qd Kc", "3c Js As", score=(11, 0), turn="2s")


@each_row(
    "match, line, figures",
    [
        (ARGENTINE, "0 real-envido", {"points": 3, "declined": 1}),
        (played(ARGENTINE, "0 envido"), "1 real-envido", {"points": 5, "declined": 2}),
        (played(ARGENTINE, "0 envido"), "1 accept", {"points": 2}),
        (played(ARGENTINE, "0 envido", "1 real-envido"), "0 decline", {"loses": 2}),
        (played(ARGENTINE, "0 envido"), "1 falta-envido", {"points": 30, "declined": 2}),
        (ARGENTINE, "0 concede", {"loses": 2}),
        (played(declared(*FLORES), "1 contraflor"), "0 accept", {}),
        (AT_LAST, "0 accept", {"stake": 3}),
        (AT_LAST, "0 decline", {"loses": 1}),
        (played(dealt("trut", *HANDS), "0 raise trut"), "1 accept", {"stake": "trut"}),
    ],
)
def test_a_call_of_other_games_comes_with_its_figures(match, line, figures):
    assert hinted(match, line) == figures
