"""Sharp knows what its seat knows, imagines only what agrees with it, and chooses well, but not always the same."""

import random
from itertools import count
from math import inf

from rows import each_row
from rules.chance import TABLES, some_state
from rules.played import dealt, options, played

from truc_bots import Effort, Sharp, as_seen, world
from truc_rules import Seat, deciders, legal, move_line, preset
from truc_rules.contests.values import envido_value, is_flor

QUICK = Effort(16, inf)
ARGENTINE = ("7e 6e 1b", "5o 7o 4c")


def chosen(match, seat, seed, effort=QUICK):
    lines = options(match, seat)
    return lines[Sharp(seed, effort).choose(match, seat, lines)]


@each_row("name, seats", TABLES)
def test_every_game_is_played_by_its_options(name, seats):
    for seed in range(3):
        match = some_state(preset(name), seats, seed)
        for seat in deciders(match):
            lines = [move_line(match.variant, each) for each in legal(match, seat)]
            assert Sharp(seed, QUICK).choose(match, seat, lines) in range(len(lines))


def test_cards_of_others_change_nothing():
    choices = []
    for others in ("3e 3c 3b", "4e 5c 6b"):
        match = played(dealt("truco-argentino", others, "1e 7o 12b"), "0 raise 2")
        choices.append([chosen(match, 1, seed) for seed in range(3)])
    assert choices[0] == choices[1]


def test_cards_that_were_played_are_seen():
    match = played(dealt("truco-argentino", *ARGENTINE), "0 play 7e")
    seen = as_seen(match, Seat(1)).hand.dealt.cards
    assert seen[0] == (match.variant.pack.index("7e"), None, None)
    assert None not in seen[1]


def test_worlds_hold_every_card_once_and_leave_what_is_known():
    match = as_seen(played(dealt("truco-argentino", *ARGENTINE), "0 play 7e"), Seat(1))
    for seed in range(20):
        cards = world(match, random.Random(seed)).hand.dealt.cards
        held = [card for hand in cards for card in hand]
        assert len({*held}) == 6
        assert (cards[1], cards[0][0]) == (match.hand.dealt.cards[1], match.hand.dealt.cards[0][0])


def test_worlds_agree_with_the_envido_that_was_said_and_a_flor_that_was_declared():
    said = played(dealt("truco-argentino", *ARGENTINE), "0 envido", "1 accept", "0 points 33", "1 good")
    declared = played(dealt("truco-argentino-flor", "7e 6e 1e", "5o 7o 4c"), "0 flor")
    for seed in range(5):
        of_envido, of_flor = (
            world(as_seen(match, Seat(1)), random.Random(seed)).hand.dealt.cards[0]
            for match in (said, declared)
        )
        assert envido_value(said.variant, of_envido) == 33
        assert is_flor(declared.variant, of_flor)


UNKNOWN = "? ? ?"


def test_worlds_have_no_flor_that_would_have_to_be_declared_first():
    partner = ("5o 7o 4c", "1b 2b 4b")
    for cards, line in zip(partner, ("accept", "flor"), strict=True):
        match = dealt("truco-argentino-flor", UNKNOWN, UNKNOWN, cards, UNKNOWN, dealer=2)
        match = played(match, "3 raise 2", "0 flor")
        lines = options(match, 2)
        assert line in lines
        for seed in range(5):
            assert Sharp(seed, Effort(64, inf)).choose(match, 2, lines) in range(len(lines))


def test_ask_is_accepted_or_raised_with_the_best_cards_and_declined_with_the_worst():
    best = played(dealt("truco-argentino", "4o 4c 5b", "1e 1b 7e"), "0 raise 2")
    worst = played(dealt("truco-argentino", "1e 1b 7e", "4o 4c 5b"), "0 play 7e", "1 play 5b", "0 raise 2")
    taken = [chosen(best, 1, seed, Effort(64, inf)) for seed in range(3)]
    folded = [chosen(worst, 1, seed, Effort(64, inf)) for seed in range(3)]
    assert "decline" not in taken
    assert folded == ["decline"] * 3


def test_once_the_time_is_up_no_deal_is_begun():
    match = dealt("truco-argentino", "2e 3c 11b", "5o 7o 4c")
    lines = options(match, 0)
    seconds = count()  # each look at the clock takes one
    for allowed, deals in ((0, 1), (5, 6)):
        player = Sharp(1, Effort(10_000, allowed), lambda: next(seconds))
        assert {tried.deals for tried in player.compare(match, 0, lines).values()} == {deals}


def test_options_are_compared_in_as_many_deals_the_best_first():
    match = dealt("truco-argentino", "1e 1b 7e", "4o 5c 6b")
    tried = Sharp(1, Effort(64, inf)).compare(match, 0, options(match, 0))
    assert len(tried) == 2
    best, other = tried.values()
    assert best.deals == other.deals
    assert best.chance >= other.chance


def test_giving_up_is_compared_as_what_it_costs_in_any_case():
    match = played(dealt("truco-argentino", "1e 1b 7e", "4o 4c 5b"), "0 play 7e", "1 play 5b", "0 raise 2")
    tried = Sharp(1, Effort(64, inf)).compare(match, 1, ["accept", "decline"])
    assert next(iter(tried)) == 1
    assert tried[1][2:] == (0, -1, True)
    assert tried[0].points < -1


def test_hand_is_not_given_up_unasked():
    match = dealt("truc-french", "7s 7h 8s", "Ks Js 9s")
    lines = ["concede", "stand", "redeal"]
    assert Sharp(1, QUICK).compare(match, 0, lines).keys() == {1, 2}
    assert Sharp(1, QUICK).choose(match, 0, ["concede"]) == 0


def test_order_that_stands_is_not_given_anew():
    hands = ("8h Qd 7c", "Ah 10c 9d", "Qs 8c 10h", "Ac 9s Kh")
    match = played(dealt("truc-partnership", *hands, dealer=3), "0 stand", "0 order low")
    assert "order high" in [move_line(match.variant, each) for each in legal(match, Seat(0))]
    assert Sharp(1, QUICK).compare(match, 0, ["order high", "play 8h", "play Qd"]).keys() == {1, 2}


def test_single_option_is_not_compared_and_what_the_rules_do_not_offer_left_to_others():
    match = dealt("truco-argentino", *ARGENTINE)
    assert Sharp(1, QUICK).compare(match, 0, ["play 7e", "dance"]) == {}
    assert Sharp(1, QUICK).choose(match, 0, ["dance", "accept"]) is None


def test_close_choices_are_mixed_and_the_same_seed_chooses_the_same():
    match = dealt("truco-argentino", "2e 3c 11b", "5o 7o 4c")
    first, again = ([chosen(match, 0, seed) for seed in range(12)] for _ in range(2))
    assert first == again
    assert len({*first}) > 1


def test_ask_with_the_worst_cards_is_made_at_times_and_not_always():
    match = dealt("truco-argentino", "5c 4o 10b", "5o 7o 4c")  # 5 for envido
    bluffs = [chosen(match, 0, seed, Effort(48, inf)).endswith("envido") for seed in range(24)]
    assert 0 < sum(bluffs) < len(bluffs) / 2
