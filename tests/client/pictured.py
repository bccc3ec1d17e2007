"""What the screen shows at a terminal in the middle of a hand: written to tests/client/pictures and docs/screens, and
compared by the tests.

`python -m client.pictured`, with this folder's parent on the path, writes the pictures anew; read the difference.
"""

import io
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple
from unittest.mock import patch

from client.viewed import console_to, seen, started, view_of
from prompt_toolkit.data_structures import Size
from prompt_toolkit.formatted_text import fragment_list_to_text
from prompt_toolkit.input import DummyInput
from prompt_toolkit.output.vt100 import Vt100_Output

from truc_client import (
    CardsDealt,
    Happening,
    MoveChoice,
    PartnerCards,
    RecordSeen,
    SignMade,
    YourTurn,
)
from truc_rules import Seat, Side, View, preset
from truc_rules.positions.match import OrderInForce, StakeAsk
from truc_terminal.screen.prompt import Prompt
from truc_terminal.screen.screen import Screen

FOLDER = Path(__file__).parent / "pictures"
SCREENS = Path(__file__).parents[2] / "docs" / "screens"
"""The pictures that the docs show: of one hand, at four sizes."""
NAMES = ("north", "east", "south", "west", "anna", "gaizka")


class Scene(NamedTuple):
    """A moment at a table: the game, who sits there, what happened, the moves offered, and the screen it is seen on."""

    variant: str
    seats: int
    happenings: tuple[Happening, ...]
    moves: str
    width: int
    height: int
    terminal: str = "xterm-256color"
    lang: str = "en"
    target: int = 30


def told(*facts: tuple) -> RecordSeen:
    """Return a record that means these facts, each given by what it is and pairs of fields."""
    return seen(*({"what": what, **fields} for what, fields in facts))


def dealt(seats: int) -> RecordSeen:
    """Return the record of a deal of three cards each."""
    digests = [bytes([17 * (seat + 1)] * 32) for seat in range(seats)]
    return told(("dealt", {"each": 3}), ("hands_committed", {"digests": digests}))


def played(*cards: str) -> RecordSeen:
    """Return the record of plays, each written as `SEAT CARD`; `-` is a covered card."""
    return told(*(_play(*play.split()) for play in cards))


def _play(seat: str, card: str) -> tuple:
    kind = "card_covered" if card == "-" else "card_played"
    return kind, {"seat": int(seat)} if card == "-" else {"seat": int(seat), "card": card}


def stands(view: View) -> RecordSeen:
    """Return the record that leaves the hand like this."""
    return seen({"what": "state", "phase": "hand", "score": [[0, 0, 0], [0, 0, 0]]}, view=view)


_ENVIDO = (
    dealt(4),
    CardsDealt(("7o", "6b", "12c")),
    told(("envido_called", {"seat": 1, "call": "envido"}), ("envido_accepted", {"seat": 2, "points": 2})),
    told(("value_said", {"seat": 1, "value": 27}), ("value_said", {"seat": 2, "value": 30})),
    played("1 4c", "2 3b", "3 10e", "0 12c"),
    told(("trick_won", {"side": 0, "leader": 2})),
    SignMade(2, "three"),
    played("2 7e", "3 1e"),
    told(("stake_asked", {"seat": 3, "stake": 2})),
    stands(
        view_of(
            "truco-argentino",
            4,
            cards="7o 6b 12c",
            tricks=[("1 4c 2 3b 3 10e 0 12c", 0)],
            table="2 7e 3 1e",
            points=(8, 21),
            offers=(StakeAsk(Seat(3), Side(1), 2),),
            waiting=(0,),
        )
    ),
)
_TURNED = (
    dealt(6),
    told(("turned_up", {"card": "4h"})),
    CardsDealt(("Kh", "7d", "6c")),
    played("5 2d", "0 7d", "1 Qc", "2 -", "3 As", "4 3h"),
    told(("trick_tied", {"leader": 5})),
    played("5 5s"),
    stands(
        view_of(
            "truco-paulista",
            6,
            cards="Kh 7d 6c",
            tricks=[("5 2d 0 7d 1 Qc 2 - 3 As 4 3h", None)],
            table="5 5s",
            points=(7, 10),
            dealer=4,
            stake=3,
            up="4h",
            waiting=(0,),
        )
    ),
)
_TWO = (
    dealt(2),
    told(
        ("hand_closed", {"reason": "hand"}),
        ("hands_opened", {"cards": [["As", "7h", "6c"], ["Kd", "9s", "Jh"]]}),
    ),
    dealt(2),
    CardsDealt(("As", "10h", "7c")),
    played("1 -"),
    stands(view_of("truc-french", cards="As 10h 7c", table="1 -", points=(6, 10), stake=2, waiting=(0,))),
)
_WON = (
    dealt(2),
    CardsDealt(("7e", "6b", "12c")),
    played("1 4c", "0 7e"),
    told(("trick_won", {"side": 0, "leader": 0})),
    stands(
        view_of(
            "truco-argentino",
            cards="7e 6b 12c",
            tricks=[("1 4c 0 7e", 0)],
            points=(8, 21),
            dealer=1,
            waiting=(0,),
        )
    ),
)
_CLOCKWISE = (
    dealt(4),
    CardsDealt(("7s", "Kh", "Qd")),
    played("1 8c", "2 9d", "3 Ah", "0 7s"),
    told(("trick_won", {"side": 0, "leader": 0})),
    stands(
        view_of("trut", 4, cards="7s Kh Qd", tricks=[("1 8c 2 9d 3 Ah 0 7s", 0)], points=(3, 0), waiting=(0,))
    ),
)
_GOVERNED = (
    dealt(4),
    CardsDealt(("8s", "Kh", "Qd")),
    PartnerCards(2, ("7s", "9d", "Jc")),
    played("1 Kc", "2 9d", "3 Ah"),
    told(("order_given", {"seat": 2, "order": "low"})),
    stands(
        view_of(
            "truc-partnership",
            4,
            cards="8s Kh Qd",
            table="1 Kc 2 9d 3 Ah",
            points=(3, 0),
            dealer=2,
            orders=(OrderInForce("low", 1), None),
            waiting=(0,),
        )
    ),
)
_ALL = "play 7o, play 6b, accept, decline, raise 3, concede"
_FIRST = "play Kh, play 6c, cover Kh, cover 6c, raise 6, concede"

SCENES = {
    "80x24": Scene("truco-argentino", 4, _ENVIDO, _ALL, 80, 24),
    "100x32": Scene("truco-argentino", 4, _ENVIDO, _ALL, 100, 32),
    "120x40": Scene("truco-argentino", 4, _ENVIDO, _ALL, 120, 40),
    "40x10": Scene("truco-argentino", 4, _ENVIDO, _ALL, 40, 10),
    "four-120x40": Scene("truco-argentino", 4, _ENVIDO, _ALL, 120, 40, lang="es"),
    "six-80x24": Scene("truco-paulista", 6, _TURNED, _FIRST, 80, 24, target=12),
    "six-120x40": Scene("truco-paulista", 6, _TURNED, _FIRST, 120, 40, lang="pt", target=12),
    "two-80x24": Scene("truc-french", 2, _TWO, "play As, play 10h, raise 4", 80, 24, lang="fr", target=12),
    "two-ascii-80x24": Scene(
        "truc-french", 2, _TWO, "play As, play 10h, raise 4", 80, 24, "linux", target=12
    ),
    "won-80x24": Scene("truco-argentino", 2, _WON, "play 6b, play 12c, raise 2", 80, 24, lang="ca"),
    "clockwise-120x40": Scene("trut", 4, _CLOCKWISE, "play Kh, play Qd", 120, 40, target=7),
    "clockwise-ascii-80x24": Scene("trut", 4, _CLOCKWISE, "play Kh, play Qd", 80, 24, "linux", target=7),
    "partners-50x24": Scene("truc-partnership", 4, _GOVERNED, "play 8s", 50, 24, target=12),
    "four-ascii-40x24": Scene("truco-argentino", 4, _ENVIDO, _ALL, 40, 24, "dumb"),
}


def shown(scene: Scene) -> str:
    """Return what the screen prints, without colours."""
    out = io.StringIO()
    console = console_to(out, terminal=True, width=scene.width, height=scene.height)
    screen = Screen(console, scene.lang, scene.terminal)
    game = preset(scene.variant)
    raised = {"4h": ("5s", "5h", "5d", "5c")} if "paulista" in scene.variant else {}
    shown_of = {"words": game.words, "target": scene.target, "rules": game, "raised": raised}
    begun = started(scene.variant, NAMES[: scene.seats], **shown_of)
    options = tuple(MoveChoice(line, line.split()[0], {}) for line in scene.moves.split(", "))
    turn = YourTurn(9, 8, options, True, 150_000)
    screen.pose = None if scene.terminal == "dumb" else lambda question: None
    for happening in (begun, *scene.happenings, turn):
        screen.show(happening)
    return out.getvalue() if screen.pose is None else at_a_prompt(screen, turn, scene, out.getvalue())


def at_a_prompt(screen: Screen, turn: YourTurn, scene: Scene, told: str) -> str:
    """Return a whole terminal: the newest lines, and below them what a prompt draws."""
    size = Size(rows=scene.height, columns=scene.width)
    output = Vt100_Output(io.StringIO(), lambda: size, term=scene.terminal)
    prompt = Prompt(lambda _line: None, terminal=DummyInput(), output=output)
    screen.pose = prompt._pose
    # The clock in the picture stands: on a busy machine a second may pass before the prompt is drawn.
    with patch("truc_terminal.screen.prompt.time", SimpleNamespace(monotonic=lambda: 0.0)):
        screen.offer(turn)
        foot = [line.rstrip() for line in fragment_list_to_text(prompt._message()).split("\n")]
    above = told.splitlines()[-(scene.height - len(foot)) :] if scene.height > len(foot) else []
    return "\n".join([*above, *foot]) + "\n"


def picture_of(name: str) -> Path:
    """Return where the picture of a scene is kept."""
    return (FOLDER if "-" in name else SCREENS) / f"{name}.txt"


if __name__ == "__main__":
    for name, scene in SCENES.items():
        picture_of(name).write_text(shown(scene))
