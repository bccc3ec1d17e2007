"""How to speak to somebody: in their language, with the words of the game that is played."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from truc_words.catalogue import Catalogue, catalogue
from truc_words.local import LocalWords, local_words
from truc_words.sentences import Sentence


class Speech(NamedTuple):
    """A listener's language and the name of the game's set of local words."""

    lang: str
    words: str = ""

    @property
    def catalogue(self) -> Catalogue:
        """What is said in the listener's language; raises LanguageError if there is no such language."""
        return catalogue(self.lang)

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
        return Sentence(key, **values).told(self.lang)

    def card(self, name: str) -> str:
        """Return a card as the listener writes it: in French `Vs`, a jack of spades, for `Js`."""
        rank, suit = name[:-1], name[-1:]
        return self.catalogue.letters.get(rank, rank) + suit

    def counted(self, what: str, n: int) -> str:
        """Return a number with what it counts, such as `2 points`."""
        one, several = self.local.counts.get(what) or self.catalogue.counts[what]
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
        plain = self.catalogue.reasons.get(reason, reason)
        return self.local.reasons.get(reason, plain).format(unit=self.counted("unit", 1))

    def noted(self, label: str, notes: Sequence[str]) -> str:
        """Return a label with notes in brackets after it, if there are any."""
        return f"{label} ({self.separated(notes)})" if notes else label

    def separated(self, texts: Iterable[str]) -> str:
        """Return several texts as one; there may be commas in them."""
        return self.catalogue.said["separator"].join(texts)

    def of(self, who: str, what: object) -> str:
        """Return what somebody has after their name, such as `north: 3`; a name may end in a digit."""
        return self.say("said.has", who=who, what=what)

    def quoted(self, words: str) -> str:
        """Return words in quotation marks."""
        return self.catalogue.said["quote"].format(words=words)

    def term(self, name: str) -> str:
        """Return a role or thing of the game, with the game's own word for it."""
        plain, own = self.catalogue.terms[name], self.local.terms.get(name)
        return plain if own in (None, plain) else f"{plain} ({own})"


ENGLISH: Final = Speech("en")
