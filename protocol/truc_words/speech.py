"""How to speak to somebody: in their language, with the words of the game that is played.

Names of players, and other text that came from others, made fit to be shown.

What signs and quick phrases are called: in the words of the game, explained in the listener's language.

How a game says its score: in points, in units and points, or in points of a lower and an upper half.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import ceil
from typing import Final, Literal, NamedTuple

from truc_words.catalogue import Catalogue, LocalWords, catalogue, local_words
from truc_words.sentences import Sentence


class Speech(NamedTuple):
    """A listener's language and the name of the game's set of local words."""

    lang: str
    words: str = ""

    @property
    def catalogue(self) -> Catalogue:
        """What is said in the listener's language, as it is spoken where the game is played.

        Raises:
            LanguageError: There is no such language.
        """
        return catalogue(self.lang, self.words)

    @property
    def local(self) -> LocalWords:
        """What the game says in its own tongue."""
        return local_words(self.words)

    @property
    def own(self) -> "Speech":
        """The same game told in its own tongue; in the listener's language, if it has none."""
        return Speech(self.local.tongue or self.lang, self.words)

    def say(self, key: str, /, **values: object) -> str:
        """Return a text of the catalogue by its part and name, such as `verdict.winner`, with its values filled in."""
        return Sentence(key, **values).in_language(self.lang, self.words)

    def card(self, name: str) -> str:
        """Return a card as the listener writes it: in French `Vs`, a jack of spades, for `Js`."""
        rank, suit = name[:-1], name[-1:]
        return self.catalogue.letters.get(rank, rank) + suit

    def counted(self, what: str, n: int) -> str:
        """Return a number with what it counts, such as `2 points`."""
        spoken = self.local.counted.get(self.lang, {})
        one, several = spoken.get(what) or self.local.counts.get(what) or self.catalogue.counts[what]
        return (one if n in self.catalogue.singular else several).format(n=n)

    def stake(self, stake: object) -> str:
        """Return a stake: a number, or in words what is played for instead."""
        match stake:
            case "rest" | "game":
                return self.catalogue.said["whole_game"]
            case "trut":
                return self.counted("unit", 1)
            case _:
                return str(stake)

    def reason(self, reason: str) -> str:
        """Return why points were scored or how a match ended, by the game's own word if it has one."""
        said = self.local.reasons.get(reason) or self.catalogue.reasons.get(reason)
        # one that has no words is a server's, and no text to fill in
        return reason if said is None else said.format(unit=self.counted("unit", 1))

    def noted(self, label: str, notes: Sequence[str]) -> str:
        """Return a label with notes in brackets after it, if there are any."""
        return f"{label} ({self.separated(notes)})" if notes else label

    def separated(self, texts: Iterable[str]) -> str:
        """Return several texts as one; there may be commas in them."""
        return self.catalogue.said["separator"].join(texts)

    def labelled(self, who: str, what: object) -> str:
        """Return what somebody has after their name, such as `north: 3`; a name may end in a digit."""
        return self.say("said.has", who=who, what=what)

    def quoted(self, words: str) -> str:
        """Return words in quotation marks."""
        return self.catalogue.said["quote"].format(words=words)

    def term(self, name: str) -> str:
        """Return a role or thing of the game, with the game's own word for it; that alone to who speaks the game's tongue."""
        plain, own = self.catalogue.terms[name], self.local.terms.get(name)
        if own is not None and self.local.tongue == self.lang:
            return own
        return plain if own in (None, plain) else f"{plain} ({own})"


ENGLISH: Final = Speech("en")
_MINUTE: Final = 60


def time_label(seconds: float) -> str:
    """Return how long something lasts, as people say it: seconds below two minutes, then minutes, then hours too."""
    whole = ceil(seconds)
    if (whole < 2 * _MINUTE and whole % _MINUTE) or not whole:
        return f"{whole} s"
    hours, minutes = divmod(ceil(whole / _MINUTE), _MINUTE)
    return " ".join(filter(None, [f"{hours} h" if hours else "", f"{minutes} min" if minutes else ""]))


_LONGEST_NAME: Final = 24


def printable(text: str) -> str:
    """Return text that came from others without what a terminal would obey."""
    # isprintable() is false for escapes, and for marks that reverse the direction of writing
    return "".join(sign for sign in text if sign.isprintable())


def shown_name(name: str, seat: int) -> str:
    """Return a player's name as it may be shown: printable, short, never empty."""
    return printable(name).strip()[:_LONGEST_NAME] or f"seat {seat}"


def joined(names: Sequence[str], speech: Speech) -> str:
    """Return several names as one: the last two with a word between them, those before them with commas."""
    return speech.catalogue.said["and"].join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def side_name(side: int, players: Sequence[str], speech: Speech) -> str:
    """Return how a side is called: by the names of its seats."""
    return joined(players[side::2], speech)


def sign_label(word: str, lang: str, words: str) -> str:
    """Return what a sign claims, and by which gesture it is made where the game has one."""
    speech = Speech(lang, words)
    plain = speech.catalogue.signs.get(word, printable(word))
    own = speech.local.signs.get(word, plain)
    gesture = speech.catalogue.gestures.get(speech.local.gestures.get(word, ""))
    notes = [note for note in (plain if own != plain else None, gesture) if note]
    return speech.noted(own, notes)


def phrase_label(phrase: str, lang: str, words: str) -> str:
    """Return what a phrase says, and what it means."""
    speech = Speech(lang, words)
    plain = speech.catalogue.phrases.get(phrase)
    if plain is None:
        return printable(phrase)
    own = speech.local.phrases.get(phrase, plain.label)
    return f"{own} ({plain.meaning.rstrip('.')})"


SideScore = tuple[int, int, int]


def score_label(score: SideScore, target: int, speech: Speech) -> str:
    """Return the score of a side, [games, upper, points], in a game to `target` points."""
    games, upper, points = score
    notes = [*_halves(points, target, speech)]
    if games:
        notes.append(speech.counted("game", games))
    said = _points(upper, points, f"/{target}" if target else "", speech)
    return speech.noted(said, notes)


def _points(upper: int, points: int, of: str, speech: Speech) -> str:
    """Return a score, with `of` after the number that counts towards it."""
    if not upper and "unit" not in speech.local.counts:
        return f"{points}{of}"
    units = speech.counted("unit", upper).replace(str(upper), f"{upper}{of}", 1)
    return joined([units, speech.counted("point", points)], speech)


def _halves(points: int, target: int, speech: Speech) -> Iterator[str]:
    if points and speech.local.halves and target:
        yield half_label(points, target, speech)


def half_label(points: int, target: int, speech: Speech) -> str:
    """Return points as a game that is counted in halves says them: of 30, 8 as `8 malas` and 21 as `6 buenas`."""
    # rules.md 8.1
    middle = target // 2
    which: Literal["low", "high"] = "low" if points <= middle else "high"
    n = points if which == "low" else points - middle
    one, several = speech.local.halves[which]
    return (one if n == 1 else several).format(n=n)
