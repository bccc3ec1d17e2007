"""What signs and quick phrases are called: in the words of the game, explained in the listener's language."""

from truc_words.names import printable
from truc_words.speech import Speech


def sign_label(word: str, lang: str, words: str) -> str:
    """Return what a sign claims, and by which gesture it is made where the game has one."""
    speech = Speech(lang, words)
    plain = speech.catalogue.signs.get(word, printable(word))
    own = speech.local.signs.get(word, plain)
    gesture = speech.catalogue.gestures.get(speech.local.gestures.get(word, ""))
    notes = [note for note in (plain if own != plain else None, gesture) if note]
    return speech.noted(own, notes)


def phrase_label(phrase: str, lang: str, words: str) -> str:
    """Return what is said, and what it means."""
    speech = Speech(lang, words)
    plain = speech.catalogue.phrases.get(phrase)
    if plain is None:
        return printable(phrase)
    own = speech.local.phrases.get(phrase, plain.label)
    return f"{own} ({plain.meaning.rstrip('.')})"
