"""How cards, digests, stakes and tricks look: suits as symbols on a terminal, plain names everywhere else."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from truc_terminal.replay_model.board import ShownHand
from truc_words import Speech, side_name

_SPANISH: Final = {"o": "◉", "c": "◡", "e": "†", "b": "♣"}
_FRENCH: Final = {"s": "♠", "h": "♥", "d": "♦", "c": "♣"}
_COLOURS: Final = {"o": "yellow", "c": "red", "e": "blue", "b": "green", "s": "cyan", "h": "red", "d": "red"}
_SHOWN_DIGITS: Final = 8


class Faces(NamedTuple):
    """How the cards of one pack are shown; plain means as they are `written` in the player's language."""

    is_spanish: bool
    is_plain: bool
    written: Callable[[str], str] = str

    def card(self, name: str) -> str:
        """Return a card as people see it: `7†` for `7e`, or its name if plain."""
        return self.rank(name) + self.suit(name[-1])

    def suit(self, letter: str) -> str:
        """Return a suit as people see it: `†` for `e`, or its letter if plain."""
        return letter if self.is_plain else (_SPANISH if self.is_spanish else _FRENCH).get(letter, letter)

    def rank(self, name: str) -> str:
        """Return what is written on a card: `7` for `7e`."""
        return self.written(name)[:-1]

    def colour(self, name: str) -> str:
        """Return the colour of a card's suit."""
        # Clubs, while `c` of the Spanish pack are cups.
        return "green" if name[-1] == "c" and not self.is_spanish else _COLOURS.get(name[-1], "white")

    @property
    def legend(self) -> str:
        """The line of the catalogue that says what the symbols mean."""
        return "spanish_suits" if self.is_spanish else "french_suits"


def faces_of(pack: tuple[str, ...], speech: Speech, *, is_plain: bool) -> Faces:
    """Return how to show the cards of a pack."""
    # Both packs have a suit `c`; only the Spanish one has `o`.
    return Faces(any(card.endswith("o") for card in pack), is_plain, speech.card)


def short(digest: bytes) -> str:
    """Return the first digits of a digest, enough to compare by eye."""
    return digest.hex()[:_SHOWN_DIGITS]


def stake_words(board: ShownHand, names: Sequence[str], speech: Speech) -> str:
    """Return what a hand is worth, and who has asked for more."""
    stake = speech.stake(board.stake)
    if board.asked is None:
        return stake
    seat, asked = board.asked
    told = speech.say("screen.asked", seat=names[seat], stake=speech.stake(asked))
    return f"{stake}; {told}"


def taker(side: int | None, names: Sequence[str], speech: Speech) -> str:
    """Return who took a trick, or the game's word for a tied one."""
    if side is None:
        return speech.local.facts.get("trick_tied") or speech.say("screen.tied")
    return side_name(side, names, speech)
