"""The words of the page are those of the terminal: moves, facts and what is around them, in every language and game."""

import json
import random
import re
import tomllib
from collections.abc import Iterator, Mapping
from itertools import chain, product
from pathlib import Path

import pytest
from client.playing import tables_in_turn
from clients_elsewhere.programs import needs_node, node
from rows import each_row
from rules.chance import random_hand, with_each_option

from truc_protocol.ledger.facts import RECORD_FACTS, event_fact
from truc_rules import Seat, Variant, legal, preset
from truc_rules.moves import described
from truc_web.tree import SHOWN_IN_PART, word_files
from truc_words import (
    LANGUAGES,
    Speech,
    catalogue,
    half_label,
    local_sets,
    move_label,
    move_meaning,
    phrase_label,
    side_name,
    sign_label,
    tell,
)
from truc_words.catalogue import read_text
from truc_words.moves import local_label, plain_label

pytestmark = [pytest.mark.slow, needs_node]

PROGRAM = Path(__file__).with_name("web_words.mjs")
PAGE = Path(__file__).parents[2] / "client" / "truc_web" / "page"
NAMES = ("north", "east", "south", "west", "up", "down")
NUMBERS = tuple(range(31))
HANDS = 3
ANSWERING = ("", "stake", "rest", "envido", "flor", "redeal", "last-point")
ANSWERS = {"accept", "decline", "raise", "envido"}
"""What may be called otherwise by what it answers."""
SAMPLES: Mapping[str, object] = {
    "seat": 1,
    "seats": [0, 1],
    "cards": ["7e", "3o"],
    "digests": [],
    "index": 3,
    "dealer": 0,
    "giver": 0,
    "receiver": 1,
    "kind": "play",
    "reason": "target",
    "winner": 1,
    "role": 0,
    "ruling": "act",
}
"""Of each field of the records' facts a value."""


def hands() -> Iterator[tuple[Variant, int, str]]:
    for name, seats in tables_in_turn():
        for number in range(HANDS):
            yield preset(name), seats, f"{number}"
    for variant, seats, option, value in with_each_option():
        yield variant, seats, f"{option} {value}"


def told_kinds(line: str) -> str:
    """Return a line without its cards: moves with other cards are called alike."""
    kind, *rest = line.split()
    if kind not in ("play", "cover", "show"):
        return line
    return " ".join([kind, "card", *rest[1:]] if kind != "show" else [kind, f"{len(rest)}"])


class Words:
    """All moves and facts that games with one set of words have come to."""

    def __init__(self) -> None:
        self.moves: dict[tuple[object, ...], tuple[str, dict[str, object], str]] = {}
        self.facts: dict[str, dict[str, object]] = {}
        self.cards: dict[str, None] = {}

    def add(self, variant: Variant, seats: int, seed: str) -> None:
        self.cards |= dict.fromkeys(variant.pack)
        for step in random_hand(variant, seats, random.Random(f"{variant.name} {seats} {seed}")):
            for event in step.events:
                fact = event_fact(event, variant.pack)
                self.facts[json.dumps({**fact, "card": "", "cards": ""})] = fact
            legal_moves = (legal(step.after, Seat(seat)) for seat in range(seats))
            for line, hints in chain.from_iterable(described(step.after, each) for each in legal_moves):
                for answering in ANSWERING if line.split()[0] in ANSWERS else ("",):
                    key = (told_kinds(line), hints, answering)
                    self.moves.setdefault(key, (line, dict(hints), answering))


def records_facts() -> Iterator[dict[str, object]]:
    """Yield a fact of each kind that records have, and one for each value that has a sentence of its own."""
    for what, (fields, _) in RECORD_FACTS.items():
        yield {"what": what, **{field: SAMPLES[field] for field in fields}}
    for key in catalogue("en").facts:
        what, _, value = key.partition("-")
        field = {"ruled": "ruling", "match_ended": "reason"}.get(what)
        if value and field:
            yield {"what": what, **{each: SAMPLES[each] for each in RECORD_FACTS[what][0]}, field: value}
    yield {"what": "match_ended", "winner": None, "reason": "abandoned"}


@pytest.fixture(scope="module")
def words() -> dict[str, Words]:
    found = {name: Words() for name in ("", *local_sets())}
    for variant, seats, seed in hands():
        found[variant.words].add(variant, seats, seed)
    for each in found.values():
        each.facts |= {json.dumps(fact): fact for fact in records_facts()}
    return found


@pytest.fixture(scope="module")
def pages(words) -> dict[str, list[dict[str, list]]]:
    """Return what the page says in each language, by game."""
    files = {path: json.loads(text) for path, text in word_files()}
    games = [
        {
            "words": name,
            "names": NAMES,
            "cards": [*of.cards],
            "moves": [*of.moves.values()],
            "facts": [*of.facts.values()],
        }
        for name, of in words.items()
    ]
    given = {
        "catalogues": [files[f"words/{lang}.json"] for lang in LANGUAGES],
        "sets": files["words/own.json"]["sets"],
        "games": games,
        "numbers": NUMBERS,
    }
    return json.loads(node(PROGRAM, given=json.dumps(given)).stdout)


def said_of_move(
    line: str, hints: Mapping[str, int | str], answering: str, speech: Speech
) -> tuple[str, str, str]:
    """Return the game's words for a move, those of the language if they are others, and its meaning."""
    *_, asked = line.split(" ", 2) if line.startswith("play ") and " raise " in line else (line,)
    is_taken = asked == "raise rest" and "stake" in hints and "declined" not in hints
    as_answer = "rest" if is_taken else answering
    plain = plain_label(asked, speech.card, speech, answering=as_answer, players=NAMES)
    own = local_label(asked, hints, speech, answering=as_answer)
    gloss = "" if own in (None, plain) else plain
    return own or plain, gloss, move_meaning(asked, speech, hints, answering=answering)


@each_row("lang", LANGUAGES)
def test_moves_are_called_as_in_a_terminal(words, pages, lang) -> None:
    differ = []
    for (name, of), page in zip(words.items(), pages[lang], strict=True):
        speech = Speech(lang, name)
        for (line, hints, answering), said in zip(of.moves.values(), page["moves"], strict=True):
            ours = said_of_move(line, hints, answering, speech)
            theirs = (said["word"], said["gloss"], said["meaning"])
            label = move_label(line, hints, speech.card, speech, answering=answering, players=NAMES)
            # a terminal says what is scored if they decline, a button what the hand or the bet will be worth
            value = hints.get("points", hints.get("stake")) if "declined" in hints else None
            worth = (
                "" if value is None else speech.catalogue.said["bet_worth"].format(points=speech.stake(value))
            )
            if ours != theirs or (said["cost"] != worth if worth else said["cost"] not in label):
                differ.append((name, line, hints, answering, ours, theirs, said["cost"], label))
    assert differ == []


@each_row("lang", LANGUAGES)
def test_facts_are_told_as_in_a_terminal(words, pages, lang) -> None:
    differ = []
    for (name, of), page in zip(words.items(), pages[lang], strict=True):
        speech = Speech(lang, name)
        for fact, theirs in zip(of.facts.values(), page["facts"], strict=True):
            ours = tell(fact, NAMES, None, speech)
            if ours != theirs:
                differ.append((name, fact, ours, theirs))
    assert differ == []


@each_row("lang", LANGUAGES)
def test_what_is_around_them_is_called_as_in_a_terminal(words, pages, lang) -> None:
    plain = catalogue(lang)
    for name, page in zip(words, pages[lang], strict=True):
        speech = Speech(lang, name)
        assert page["stakes"] == [speech.stake(stake) for stake in ("rest", "game", "trut", 4)]
        assert page["reasons"] == [speech.reason(reason) for reason in plain.reasons]
        assert page["counted"] == [speech.counted(what, n) for what, n in product(plain.counts, NUMBERS)]
        assert page["sides"] == [side_name(side, NAMES, speech) for side in (0, 1)]
        assert page["next"] == speech.local.next_sits
        halves = [half_label(n, 30, speech) if n and speech.local.halves else "" for n in NUMBERS]
        assert page["halves"] == halves
        terms = {**speech.catalogue.terms, **speech.local.terms}
        assert page["terms"] == [terms[term] for term in plain.terms]
        for sign, said in zip(plain.signs, page["signs"], strict=True):
            assert sign_label(sign, lang, name).startswith(said["word"])
            assert said["gesture"] in sign_label(sign, lang, name)
        for phrase, said in zip(plain.phrases, page["phrases"], strict=True):
            assert phrase_label(phrase, lang, name) == f"{said['word']} ({said['meaning'].rstrip('.')})"


BY_NAME = {"errors": "'{}'", "cards": "page.{}"}
"""How the code names what it takes from these parts, beside paths: an error is its code."""


def code() -> str:
    """Return the code of the page without its comments."""
    texts = [path.read_text("utf-8") for path in sorted(PAGE.rglob("*.mjs"))]
    return "\n".join(re.sub(r"^\s*(?://|\*|/\*\*).*$", "", text, flags=re.MULTILINE) for text in texts)


def matching(template: str) -> re.Pattern[str]:
    """Return what a path that is put together in the code may be."""
    return re.compile(
        "".join(
            r"[\w+-]*" if at % 2 else re.escape(part)
            for at, part in enumerate(re.split(r"\$\{(.*?)\}", template))
        )
    )


def test_every_sentence_that_the_page_asks_for_is_there_and_none_is_left_over() -> None:
    said, written = json.loads(dict(word_files())["words/en.json"]), code()
    own = tomllib.loads(read_text("page/en.toml"))
    part = "|".join(name for name, texts in said.items() if isinstance(texts, dict))
    asked = set(re.findall(rf"'((?:{part})\.[\w-]+)'", written))
    made = [matching(each) for each in re.findall(rf"`((?:{part})\.[^`]*\$[^`]*)`", written)]
    made += [matching(f"cards.{each}") for each in re.findall(r"page\[`([^`]*)`\]", written)]
    there = {f"{name}.{key}" for name, texts in said.items() if isinstance(texts, dict) for key in texts}
    assert asked - there == set()
    assert [each.pattern for each in made if not any(map(each.fullmatch, there))] == []
    left = {
        f"{name}.{key}"
        for name, texts in (own | {part: said[part] for part in SHOWN_IN_PART}).items()
        for key in texts
        if BY_NAME.get(name, "\0").format(key) not in written
    }
    assert {path for path in left - asked if not any(each.fullmatch(path) for each in made)} == set()


def test_no_sentence_of_the_page_has_backticks() -> None:
    assert [path for path, text in word_files() if b"`" in text] == []
