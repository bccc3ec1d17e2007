"""Words for people: what each move, sign and phrase is called, and how each fact and score of a match is told.

One catalogue per language and one set of local words per game are data beside these modules; a client shows them, and
nothing is decided by them. The caller passes names and cards in, as it knows how its screen shows them. Text that came
from others goes through `printable` or `shown_name` first.
"""

from truc_words.catalogue import (
    LANGUAGES,
    PLAIN,
    Catalogue,
    LanguageError,
    LocalWords,
    MoveWords,
    catalogue,
    chosen_language,
    local_sets,
    local_words,
)
from truc_words.facts import as_told, tell
from truc_words.moves import move_label, move_meaning, own_label
from truc_words.sentences import CheckWords, Sentence, in_language, words_of_check
from truc_words.speech import (
    ENGLISH,
    Speech,
    half_label,
    joined,
    phrase_label,
    printable,
    score_label,
    shown_name,
    side_name,
    sign_label,
    time_label,
)
from truc_words.typed import TalkKind, typed_name, typed_word, with_english_command

__all__ = [
    "ENGLISH",
    "LANGUAGES",
    "PLAIN",
    "Catalogue",
    "CheckWords",
    "LanguageError",
    "LocalWords",
    "MoveWords",
    "Sentence",
    "Speech",
    "TalkKind",
    "as_told",
    "catalogue",
    "chosen_language",
    "half_label",
    "in_language",
    "joined",
    "local_sets",
    "local_words",
    "move_label",
    "move_meaning",
    "own_label",
    "phrase_label",
    "printable",
    "score_label",
    "shown_name",
    "side_name",
    "sign_label",
    "tell",
    "time_label",
    "typed_name",
    "typed_word",
    "with_english_command",
    "words_of_check",
]
