from functools import reduce
from pathlib import Path

from client.pictured import SCENES, picture_of, shown
from client.viewed import TRANSCRIPTS, replayed_file, view_of
from rich.text import Text
from rows import each_row

from truc_rules import Card, Kind, Seat, Side, View, preset, presets
from truc_rules.positions.match import EnvidoAsk, StakeAsk
from truc_terminal.replay_model.board import (
    LaidCard,
    SeatMemory,
    ShownHand,
    board_of,
    remembered,
)
from truc_terminal.replay_model.faces import Faces, faces_of
from truc_terminal.screen.drawing import MatchLook, table_text
from truc_terminal.screen.glyphs import ASCII, MANY, needs_ascii
from truc_terminal.screen.picture import (
    NARROW,
    WIDE,
    CardEdge,
    back_block,
    card_block,
    picture,
)
from truc_words import Speech

PACK = preset("truc-catalan").pack
UNKNOWN = (None,) * 3
SPANISH, FRENCH = Faces(is_spanish=True, is_plain=False), Faces(is_spanish=False, is_plain=False)
COMMITTED = {"what": "hands_committed", "digests": [b"\xaa" * 32, b"\xbb" * 32]}
CLOSED = {"what": "hand_closed", "reason": "hand"}
OPENED = {"what": "hands_opened", "cards": [["7e"], ["3b"]]}


def drawn(board: ShownHand, look: MatchLook, width: int = 80, height: int = 24) -> str:
    return "\n".join(line.plain for line in picture(board, look, width=width, height=height))


def look(*names: str, faces: Faces = SPANISH) -> MatchLook:
    return MatchLook(names, faces, Speech("en"), 12)


@each_row("name", SCENES)
def test_screen_shows_what_its_picture_has(name) -> None:
    # made anew by `python -m client.pictured`
    scene = SCENES[name]
    seen = shown(scene)
    assert seen == picture_of(name).read_text()
    assert scene.terminal == "dumb" or seen.count("\n") <= scene.height


@each_row("transcript", TRANSCRIPTS)
def test_match_fits_every_width(transcript) -> None:
    for stage in replayed_file(transcript).stages[::5]:  # test_replay.py has every moment
        record, board = stage.record, stage.board
        if not stage.hand:
            continue
        for width, height in ((120, 40), (60, 24), (30, 24)):
            faces = Faces(is_spanish="truco" in transcript.stem, is_plain=width == 60)
            told = MatchLook(record.names, faces, Speech("en", record.words), 12)
            lines = [*picture(board, told, width=width, height=height)]
            assert max(line.cell_len for line in lines) <= width


@each_row("width, label", [(80, "carta vuelta (vira)  3♠"), (60, "carta vuelta  3♠")])
def test_label_that_is_too_long_loses_what_is_in_brackets(width, label) -> None:
    told = MatchLook(("north", "east"), FRENCH, Speech("es", "paulista"), 12)
    shown = drawn(ShownHand(2, 0, held=(("2d", "Jc", "As"), ()), turned_up="3s"), told, width)
    assert label in shown
    assert "…" not in shown


@each_row("width", [80, 50])
def test_name_cannot_write_to_the_terminal_nor_break_a_line(width) -> None:
    names = ("\x1b[2Jnorth", "[bold]east\n\r", "馬" * 24, "w" * 300)
    lines = drawn(ShownHand(4, 0, held=(UNKNOWN,) * 4, dealer=2), look(*names), width).split("\n")
    assert "\x1b" not in "".join(lines)
    assert max(Text(line).cell_len for line in lines) <= width


def table(*, side: int | None = 0, laid: str = "", **what) -> ShownHand:
    """Return the table after a trick of a game for two, which north took unless it is said otherwise."""
    return board_of(view_of(tricks=[("0 7e 1 3b", side)], table=laid, **what), PACK)


def test_cards_of_a_trick_lie_there_until_the_next_begins_and_the_one_that_took_it_is_marked() -> None:
    names = look("north", "east")
    over = table()
    assert (over.last_trick.laid, over.last_trick.best) == ((LaidCard(0, "7e"), LaidCard(1, "3b")), 0)
    told = drawn(over, names)
    assert "┃ 7†┃" in told
    assert "│ 3♣│" in told
    assert "★7† 3♣" in told
    led = drawn(table(laid="0 4c"), names)
    assert "┃" not in led
    assert "★7† 3♣" in led
    tied = table(side=None)
    assert (tied.last_trick.laid, tied.last_trick.best) == ((LaidCard(0, "7e"), LaidCard(1, "3b")), None)
    assert "┃" not in drawn(tied, names)


def test_card_that_took_a_trick_is_marked_in_ascii_and_named_in_rows() -> None:
    plain = look("north", "east", faces=Faces(is_spanish=True, is_plain=True))
    assert "* 7e*" in drawn(table(), plain)
    assert "*7e" in drawn(table(), plain, width=50)
    assert "tricks  north (7e)" in table_text(table(), plain).plain


def test_own_hand_lies_face_down_where_nobody_sees_it() -> None:
    blind = board_of(view_of(), PACK, remembered(SeatMemory(), {"what": "played_blind"}))
    told = drawn(blind, look("north", "east"))
    assert told.count("│▒▒▒▒▒▒▒│") == 9
    assert "nobody has seen them" in told


def known(*facts: dict) -> ShownHand:
    return board_of(view_of(), PACK, reduce(remembered, facts, SeatMemory()))


@each_row(
    "facts, row",
    [
        ([COMMITTED], None),
        ([COMMITTED, CLOSED, OPENED], "✓ 1/1"),
        ([COMMITTED, CLOSED, OPENED, COMMITTED], "✓ 1/1"),
        ([COMMITTED, COMMITTED, CLOSED, OPENED], "✓ 1/1"),  # new cards in the same hand
        ([COMMITTED, CLOSED, COMMITTED, CLOSED], "0/2"),
        ([COMMITTED, CLOSED, COMMITTED, CLOSED, {"what": "match_ended"}], "✓ 2/2"),
    ],
)
def test_hands_that_are_over_are_counted_with_those_that_were_opened(facts, row) -> None:
    told = drawn(known(*facts), look("north", "east"))
    assert (f"hands checked  {row}" in told) if row else ("hands checked" not in told)


def test_smallest_table_tells_the_stake_and_which_cards_are_raised_on_one_line() -> None:
    raised = look("north", "east", faces=FRENCH)._replace(raised={"3s": ("Jc", "Jh", "Js", "Jd")})
    board = ShownHand(2, 0, held=(("2d", "Jc", "As"), ()), turned_up="3s", own=("2d", "Jc", "As"))
    assert "stake 1  manilhas J♣  J♥  J♠  J♦" in drawn(board, raised, width=40, height=6)


def test_what_waits_for_an_answer_is_said() -> None:
    asked = StakeAsk(Seat(1), Side(1), 2)
    bet = EnvidoAsk(Seat(0), Side(0), (Kind.ENVIDO, Kind.FALTA_ENVIDO))
    told = drawn(table(offers=(asked, bet)), look("north", "east"))
    assert "open    east asks for 2" in told
    assert "north calls falta envido" in told


def test_match_that_rests_waits_for_nobody() -> None:
    state = {"what": "state", "phase": "hand", "score": [[0, 0, 0], [0, 0, 0]], "waiting": [1]}
    views = view_of(waiting=(1,))
    assert board_of(views, PACK, remembered(SeatMemory(), state)).acting == (1,)
    assert board_of(views, PACK, remembered(SeatMemory(), {**state, "paused": True})).acting == ()


def cards(named: str) -> list[Card]:
    return [Card(PACK.index(card)) for card in named.split()]


def of_four(laid: str = "", **what) -> View:
    return view_of(seats=4, table=laid, **what)


def test_cards_that_a_seat_has_shown_leave_its_hand_when_they_are_played() -> None:
    shown = tuple((Seat(2), card) for card in cards("7e 3b"))
    assert board_of(of_four()._replace(shown=shown), PACK).held_by(2) == ("7e", "3b", None)
    left = tuple(each for each in shown if each[1] != PACK.index("7e"))
    assert board_of(of_four("2 7e")._replace(shown=left), PACK).held_by(2) == ("3b", None)


def test_guests_own_cards_are_those_that_the_server_told() -> None:
    told = SeatMemory(own=("7e", "3b", "1o"))
    played = view_of(table="0 1o")._replace(row=view_of(table="0 1o").row._replace(left=((0, 1), (0, 1, 2))))
    assert board_of(view_of(), PACK, told).cards == ("7e", "3b", "1o")
    assert (board_of(played, PACK, told).cards, board_of(played, PACK, told).own) == (("7e", "3b"), told.own)


@each_row("glyphs", [MANY, ASCII])
@each_row("size", [NARROW, WIDE])
def test_every_card_of_every_game_fills_its_frame(size, glyphs) -> None:
    for pack in {preset(name).pack for name in presets()}:
        faces = faces_of(pack, Speech("en"), is_plain=glyphs is ASCII)
        edge = CardEdge(glyphs.taking)
        blocks = [back_block("#", size, edge), *(card_block(card, faces, size, edge) for card in pack)]
        assert {len(block) for block in blocks} == {size.height}
        assert {line.cell_len for block in blocks for line in block} == {size.width}


@each_row(
    "card, faces, pips",
    [("7e", SPANISH, "†" * 7), ("10h", FRENCH, "♥" * 10), ("As", FRENCH, "♠"), ("12o", SPANISH, "◉♔◉")],
)
def test_card_has_its_pips_or_its_figure(card, faces, pips) -> None:
    rows = [line.plain[1:-1] for line in card_block(card, faces, WIDE, CardEdge(MANY.frame))[1:-1]]
    assert "".join("".join(rows).split()) == pips


@each_row(
    "encoding, terminal, expected",
    [
        ("utf-8", "xterm-256color", False),
        ("UTF8", "", False),
        ("utf-8", "linux", True),
        ("utf-8", "dumb", True),
        ("utf-8", "vt100", True),
        ("ascii", "xterm", True),
        ("iso8859-1", "xterm", True),
    ],
)
def test_terminal_tells_which_signs_it_has(encoding, terminal, expected) -> None:
    assert needs_ascii(encoding, terminal) is expected


def test_page_shows_the_picture() -> None:
    page = Path(__file__).parent.parent.parent / "docs/playing.md"
    assert f"```\n{picture_of('80x24').read_text()}```" in page.read_text()
