"""How the facts of a match are told."""

from typing import get_args

from rows import each_row

from truc_protocol.ledger.facts import fact_name
from truc_rules import Event
from truc_words import LANGUAGES, Speech, as_told, tell

PLAYERS = ("north", "east", "south", "west")
UNIT = {"side": 0}
LOSES = "the other side loses its points"


def told(what: str, lang: str = "en", words: str = "", **fields) -> str:
    return tell({"what": what, **fields}, PLAYERS, str, Speech(lang, words))


@each_row("lang", LANGUAGES)
@each_row("event", get_args(Event))
def test_every_event_is_told(event, lang) -> None:
    what = fact_name(event.__name__)
    cards = {"card": "7e", "cards": ["7e", "6e"], "call": "envido", "order": "low", "reason": "hand"}
    fields = {name: cards.get(name, 1) for name in event._fields}
    assert "{" not in told(what, lang, "argentine", **fields)


def test_fact_that_is_shown_otherwise_is_not_told() -> None:
    assert tell({"what": "state"}, PLAYERS) is None


@each_row(
    "what, fields, sentence",
    [
        ("stake_asked", {"seat": 1, "stake": 2}, "east asks for 2 (“truco”)"),
        ("stake_accepted", {"seat": 0, "stake": 2}, "north accepts: the hand is worth 2 (“quiero”)"),
        ("envido_called", {"seat": 0, "call": "envido"}, "north calls envido"),
        ("envido_called", {"seat": 0, "call": "real-envido"}, "north calls real envido"),
        ("contraflor_called", {"seat": 0, "call": "contraflor"}, "north calls contraflor"),
        (
            "points_scored",
            {"side": 0, "points": 3, "reason": "envido"},
            "3 points for north and south (envido)",
        ),
        ("envido_declined", {"seat": 0}, "north declines the envido (“no quiero”)"),
        ("value_yielded", {"seat": 0}, "north gives in without saying any points (“son buenas”)"),
        ("trick_tied", {"leader": 0}, "the trick is tied; north leads (“parda”)"),
        ("card_played", {"seat": 0, "card": "7e"}, "north plays 7e"),
    ],
)
def test_fact_is_told_with_the_word_of_the_game(what, fields, sentence) -> None:
    assert told(what, words="argentine", **fields) == sentence


@each_row("words, lang", [("valencian", "ca"), ("venezuelan", "es")])
def test_call_that_has_another_word_the_second_time_is_told_without_either(words, lang) -> None:
    assert told("envido_called", lang, words, seat=0, call="envido") == told(
        "envido_called", lang, seat=0, call="envido"
    )


@each_row(
    "what, fields, sentence",
    [
        ("dealt", {"each": 3}, "everybody is dealt 3 cards"),
        ("card_count_chosen", {"seat": 0, "each": 1}, "north deals 1 card each"),
        (
            "points_scored",
            {"side": 0, "points": 1, "reason": "declined"},
            "1 point for north and south (declined)",
        ),
        ("cards_shown", {"seat": 0, "cards": ["7e", "6e"]}, "north shows 7e 6e"),
        ("order_given", {"seat": 0, "order": "low"}, "north orders south to play the lowest card"),
        ("order_given", {"seat": 3, "order": "9"}, "west orders east to play a nine"),
        ("order_given", {"seat": 3, "order": "leave"}, "west orders east to leave the trick"),
        (
            "points_scored",
            {"side": 0, "points": 3, "reason": "envido"},
            "3 points for north and south (envido)",
        ),
        ("flor_claim_settled", {"target": 1, "held": True}, "east had kept a flor quiet"),
        ("flor_claim_settled", {"target": 1, "held": False}, "east had kept no flor quiet"),
        ("duel_begun", {"seat": 0, "opponent": 3}, "north plays against west"),
        (
            "deal_voided",
            {"seats": [0, 1]},
            "the server voids the deal: north and east stayed silent (its word, not proven)",
        ),
        ("rekeyed", {"role": 0}, "the server starts a new chain"),
        ("rekeyed", {"role": 2}, "east starts a new chain"),
        ("stake_asked", {"seat": 1, "stake": "rest"}, "east asks for the whole game"),
        (
            "match_ended",
            {"winner": 0, "reason": "forfeit"},
            "the match is over: time ran out; winner: north and south",
        ),
        ("match_ended", {"winner": 1, "reason": "won"}, "the match is over; winner: east and west"),
        (
            "match_ended",
            {"winner": None, "reason": "abandoned"},
            "the match is over without a winner: it was abandoned",
        ),
    ],
)
def test_fact_is_told_in_plain_words(what, fields, sentence) -> None:
    assert told(what, **fields) == sentence


@each_row(
    "words, what, fields, said",
    [
        (
            "trut",
            "unit_scored",
            UNIT | {"kept": 2, "reason": "hand"},
            f"(hand); left over: 2 points; {LOSES}",
        ),
        ("trut", "unit_scored", UNIT | {"kept": 0, "reason": "trut"}, f"(hand played for 1 trut); {LOSES}"),
        # rules.md 1.7
        ("french", "stake_accepted", {"seat": 0, "stake": "rest"}, "(“mon reste”)"),
        ("lanes", "stake_accepted", {"seat": 0, "stake": "rest"}, "(“jouez”)"),
        ("french", "stake_asked", {"seat": 0, "stake": 6, "declined": 4}, "(“deux de plus ?”)"),
    ],
)
def test_unit_remainder_and_raise_are_called_by_the_word_of_the_game(words, what, fields, said) -> None:
    assert told(what, words=words, **fields).endswith(said)


@each_row(
    "trick, last",
    [
        ({"what": "trick_won", "side": 0, "leader": 2}, "the trick goes to north and south"),
        ({"what": "trick_tied", "leader": 2}, "the trick is tied (“parda”)"),
    ],
)
def test_after_the_last_trick_of_a_hand_nobody_leads(trick, last) -> None:
    argentine = Speech("en", "argentine")
    ended, going_on = as_told([trick, {"what": "hand_won", "side": 0}]), as_told([trick, {"what": "state"}])
    assert tell(ended[0], PLAYERS, speech=argentine) == last
    assert "south leads" in str(tell(going_on[0], PLAYERS, speech=argentine))


@each_row(
    "ruling, seat, kind, sentence",
    [
        ("move", 1, "play", "time ran out for east: the server moves instead (its word, not proven)"),
        ("other", None, None, "the server rules for everybody: other (its word, not proven)"),
        ("pause", None, None, "the match rests, as every player has asked"),
        ("resume", None, None, "the match goes on"),
    ],
)
def test_ruling_is_told_as_the_servers_word_but_pauses_which_all_have_asked_for(ruling, seat, kind, sentence):
    assert told("ruled", ruling=ruling, seat=seat, kind=kind) == sentence


def test_flor_that_counted_without_a_word_is_not_told_when_the_hand_is_closed() -> None:
    closed = [{"what": "flor_declared", "seat": 2}, {"what": "hand_closed", "reason": "hand"}]
    assert [tell(fact, PLAYERS) for fact in as_told(closed)] == [None, tell(closed[1], PLAYERS)]
    assert as_told(closed[:1]) == (closed[0],)
