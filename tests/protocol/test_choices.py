import pytest
from rows import each_row

from truc_protocol.acts import check_option
from truc_protocol.boxes import BoxError, Option
from truc_protocol.dealing import Opening
from truc_rules import Kind, preset

CATALAN = preset("truc-catalan")
OWN = tuple(Opening(CATALAN.pack.index(card), bytes([at]) * 16) for at, card in enumerate(("7e", "3o", "1b")))


def play(slot: int, opening: Opening, ask: int | str | None = None) -> tuple:
    return (slot, *opening, ask)


@each_row(
    "kind, args, line",
    [
        ("play", play(0, OWN[0]), "play 7e"),
        ("play", play(2, OWN[2], 2), "play 1b raise 2"),
        ("raise", (2,), "raise 2"),
        ("raise", ("rest",), "raise rest"),
        ("deal", (3,), "deal 3"),
        ("points", (28,), "points 28"),
        ("claim", (3,), "claim 3"),
        ("order", ("low",), "order low"),
        ("accept", (), "accept"),
        ("cut", (17,), "cut"),
        ("cover", (1,), "cover 3o"),
        ("blind", (1,), "blind 1"),
        ("show", ([[0, *OWN[0]], [2, *OWN[2]]],), "show 7e 1b"),
    ],
)
def test_option_that_says_what_it_signs_is_taken(kind, args, line) -> None:
    assert check_option(CATALAN, 0, Option(kind, args, line), OWN).action.kind is Kind(kind)


@each_row(
    "kind, args, line, said",
    [
        ("play", play(0, OWN[0]), "play 3o", "for what would be signed"),
        ("play", play(0, OWN[0], 3), "play 7e raise 2", "for what would be signed"),
        ("decline", (), "accept", "for what would be signed"),
        ("play", play(1, OWN[0]), "play 7e", "own card in slot 1"),
        ("play", play(3, OWN[0]), "play 7e", "own card in slot 3"),
        ("play", play(0, OWN[0]._replace(salt=bytes(16))._replace(card=1)), "play 2o", "own card in slot 0"),
        ("show", ([[0, *OWN[1]]],), "show 3o", "own card in slot 0"),
        ("dance", (), "dance", "known kind"),
        ("raise", (), "raise 2", "shape"),
        ("cover", (3,), "cover", "own card in slot 3"),
    ],
)
def test_option_that_would_sign_something_else_is_refused(kind, args, line, said) -> None:
    with pytest.raises(BoxError, match=said):
        check_option(CATALAN, 0, Option(kind, args, line), OWN)


def test_option_before_any_card_is_dealt_is_taken() -> None:
    assert check_option(CATALAN, 0, Option("tap", (), "tap"), ()).openings == ()
