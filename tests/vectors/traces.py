"""Write tests/vectors/traces: a hand of each family as it goes over the wire, every frame in hex, in JSON and in words.

    PYTHONPATH=tests:docs:protocol:server:client python -m vectors.traces

A test holds the pages to what this makes.
"""

import base64
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from textwrap import wrap
from typing import Any, Final

from vectors.traced import NAMES, PLAYER_SEEDS, SERVER_SEED, Frame, Script, Trace, traced

from truc_docs.protocol.games import page_of
from truc_protocol import boxes
from truc_protocol.bodies import AnyBody, Deal, TableTerms
from truc_protocol.codec import dec, unpack
from truc_protocol.crypto import keys
from truc_protocol.records import Record, parse, tag_of

FOLDER: Final = Path(__file__).parent / "traces"
_ASKED: Final = ("* raise 2", "* accept", "* raise 3", "* decline")
_TRUCO: Final = ("* play", "* raise 3", "* accept", "* raise 6", "* decline")
HANDS: Final[Mapping[str, tuple[str, Script]]] = {
    "catalan": ("Truc is accepted, retruc declined", Script("truc-catalan", 1, ("* cut", *_ASKED))),
    "french": (
        "New cards are granted, two more declined",
        Script("truc-french", 1, ("* redeal", "* accept", "* raise 2", "* decline")),
    ),
    "le-truc": (
        "The stake is doubled twice, and the second time declined",
        Script("le-truc", 1, ("* stand", "* raise 2", "* accept", "* raise 4", "* decline")),
    ),
    "trut": (
        "Trut is said and accepted, and the hand played out",
        Script("trut", 1, ("* raise trut", "* accept")),
    ),
    "lanes": (
        "Three more are accepted, the rest declined",
        Script("truc-lanes", 1, ("* stand", "* raise 3", "* accept", "* raise rest", "* decline")),
    ),
    "partnership": (
        "Four seats: a governor gives an order, two more are declined",
        Script("truc-partnership", 1, ("* stand", "* order low", "* raise 2", "* decline"), seats=4),
    ),
    "argentine": (
        "Envido is accepted, truco declined",
        Script("truco-argentino", 1, ("* envido", "* accept", "* raise 2", "* decline")),
    ),
    "argentine-flor": (
        "A flor is declared, truco declined",
        Script("truco-argentino-flor", 23, ("* flor", "* raise 2", "* decline")),
    ),
    "gaucho": (
        "Envido is raised and declined, truco declined",
        Script("truco-gauderio", 1, ("* envido", "* real-envido", "* decline", "* raise 2", "* decline")),
    ),
    "paulista": ("A card is turned up; truco is accepted, six declined", Script("truco-paulista", 1, _TRUCO)),
    "mineiro": ("Truco is accepted, six declined", Script("truco-mineiro", 1, _TRUCO)),
    "uruguayan": (
        "Envido with pieces is accepted, truco declined",
        Script("truco-uruguayo", 1, ("* envido", "* accept", "* raise 2", "* decline")),
    ),
    "venezuelan": (
        "Envido is accepted, truco declined",
        Script("truco-venezolano", 1, ("* envido", "* accept", "* raise 3", "* decline")),
    ),
    "valencian": (
        "Envit is accepted and settled at the end of the hand, truc declined",
        Script("truc-valencia", 1, ("* envido", "* accept", "* raise 2", "* decline")),
    ),
    "put": (
        "A card is played, then put is said and declined",
        Script("put", 1, ("* play", "* raise rest", "* decline")),
    ),
    "two-keys": (
        "Two keys: the remainder is accepted, and the match goes on to its end and both acks",
        Script("put", 1, ("* raise rest", "* accept"), keys=2, to_end=True),
    ),
    "sealed": (
        "Cards are opened after the match alone: a close without a link, and an end that opens everything",
        Script("put", 1, ("* raise rest", "* accept"), options=(("reveal", "match"),), to_end=True),
    ),
    "coming-back": (
        "Both want a pause; a guest loses the connection and comes back; they go on, and one resigns",
        Script(
            "truc-french",
            1,
            ("* concede",),
            turns=("pause 0", "pause 1", "leave 1", "return 1", "resume 1", "resume 0", "resign 0"),
        ),
    ),
    "claim": (
        "A guest misses a decision and is gone; the other side claims the match",
        Script(
            "truc-french",
            1,
            ("* raise 2", "* decline"),
            options=(("decision_ms", 20_000), ("bank_ms", 0), ("gone_after", 1), ("claim", "opponents")),
            turns=("wait", "claim 0"),
        ),
    ),
}
_HEX_WIDTH: Final = 128
_SHOWN_BYTES: Final = 32
_GENERATED: Final = "<!-- Made by `python -m vectors.traces`. Change the code, not this page. -->"
_SAID: Final[Mapping[str, str]] = {
    "hello": "{who} opens the connection with 32 random bytes that the server must sign.",
    "login": "{who} says who it is.",
    "create": "{who} opens a table and takes its first seat.",
    "join": "{who} takes a seat at the table.",
    "ready": "{who} agrees to start.",
    "resume": "{who} is back, and asks for every record from position {next} on.",
    "claim_match": "{who} asks for the end of the match, as the other side is gone.",
}
_HEARD: Final[Mapping[str, str]] = {
    "hello": "The server proves who it is; `info` says what it has.",
    "welcome": "{who} is logged in.",
    "ok": "The request {re} is done, and stored.",
    "error": "The request {re} is refused.",
    "table": "How the table stands.",
    "terms": "The server's signed terms; a seat with a key is to answer with its `seat` record.",
    "setup": "Everybody has agreed. The match has its id from here on.",
    "options": "What {who} may do at position {at}.",
    "cards": "The cards of {who}, in clear: a guest without a box key.",
    "waiting": "Nothing to do for {who}: seats {seats} are waited for.",
    "said": "Seat {seat} says a phrase.",
    "away": "How it stands with seat {seat}, whether it is connected and what it has missed.",
}
_RECORDS: Final[Mapping[str, str]] = {
    "call": "A deal is called: everything that could influence it is fixed before any secret is opened.",
    "release": "A seat with a key opens its link of the deal.",
    "draw": "The first dealer, drawn from the links of all.",
    "deal": "A commitment to every card dealt, and the hand of each box key sealed.",
    "act": "A seat with a key has signed its decision.",
    "proxy": "The decision of a guest, written down by the server; nobody has signed it.",
    "open": "The server opens cards that the rules want to be seen.",
    "share": "A hand is shown to the partner, sealed.",
    "rule": "The server rules.",
    "resign": "A side gives the match up.",
    "close": "The hand is over; all its cards are opened, unless the policy is `match`.",
    "end": "The match is over; everything still sealed is opened.",
    "ack": "A seat with a key has signed that it has seen the end.",
}
_SIGNED: Final[Mapping[str, str]] = {
    "seat": "{who} joins the terms: key, anchor of the chain, box key, name.",
    "release": "{who} opens the link of this deal; that is also a *go on*.",
    "act": "{who} signs its decision for this position.",
    "resign": "{who} gives the match up, by a signature of its own.",
    "ack": "{who} has seen the end.",
}


@cache
def trace_of(family: str) -> Trace:
    """Play the hand of a family."""
    return traced(HANDS[family][1])


def page(family: str) -> str:
    """Write the page of a family."""
    title, trace = HANDS[family][0], trace_of(family)
    lines = [f"# {title}", "", _GENERATED, "", *_heading(trace), ""]
    shown: dict[bytes, int] = {}
    for number, frame in enumerate(trace.frames, 1):
        lines += _section(number, frame, trace, shown)
    return "\n".join(lines).rstrip() + "\n"


def pages() -> Iterator[tuple[Path, str]]:
    """Write every page."""
    for family in HANDS:
        yield FOLDER / f"{family}.md", page(family)
    yield FOLDER / "README.md", index()


def index() -> str:
    """Write the page that lists the others."""
    lines = ["# Traces", "", _GENERATED, _INDEX, "| page | game | |", "|---|---|---|"]
    for family, (title, script) in HANDS.items():
        main = page_of(script.variant)
        place = f"{main}.md" if script.variant == main else f"{main}.md#{script.variant}"
        game = f"[`{script.variant}`](../../../docs/rules/{place})"
        lines.append(f"| [{family}.md]({family}.md) | {game} | {title} |")
    return "\n".join(lines) + "\n"


_INDEX: Final = f"""
A hand of each family, every frame as it went over the wire between a real server and its players, both ways, from the
first `hello` to the close. {NAMES[0]} has a key; all others are guests without a box key, who are told everything in clear. In
[two-keys](two-keys.md) {NAMES[1]} has a key too, and the match goes on to its end and the `ack` of both: there the releases and acks of one
place carry the same head. [sealed](sealed.md) goes on to the end of a match too, whose policy is `match`. In [coming-back](coming-back.md) and [claim](claim.md) something else
than play follows the first hand: a pause, a lost connection and a resignation; a seat that is gone.

Of each frame stands who sent it to whom; what it says, in words and in JSON (`bin` as base64, longer ones by their length);
the body of what is signed, decoded, every `bin` in it in hex, names too (`416e61` is {NAMES[0]}); and all of its bytes, the length of four bytes included. A frame that
several get, byte for byte, stands once. `ping` and `pong` are left out. What is said of an open box is not in the frame: it
is what whoever has the key reads with the secrets of the page.

Everything comes from a seed, so that you can recompute it. The same in every trace:

| secret | |
|---|---|
| seed of the server's Ed25519 key | `{SERVER_SEED.hex()}` |
| seed of {NAMES[0]}'s Ed25519 key | `{PLAYER_SEEDS[0].hex()}` |

The box key and the root of the chain differ; each page begins with them. The clock stands still but where nothing else
happens.
"""


def _heading(trace: Trace) -> Iterator[str]:
    script = trace.script
    yield f"The game `{script.variant}`. {_players(script)} [What stands here](README.md)."
    yield ""
    for seat, secrets in enumerate(trace.secrets):
        if seat:
            yield f"* seed of {NAMES[seat]}'s Ed25519 key: `{PLAYER_SEEDS[seat].hex()}`"
        yield f"* {NAMES[seat]}'s X25519 secret of this match: `{secrets.x.hex()}`"
        yield f"* the root of {NAMES[seat]}'s chain, link {_links(trace)}: `{secrets.root.hex()}`"


def _players(script: Script) -> str:
    if script.keys == script.seats:
        return "Everybody has a key."
    guests = f"{NAMES[1]} is a guest." if script.seats == 2 else "the others are guests."
    return f"{NAMES[0]} has a key, {guests}"


def _links(trace: Trace) -> int:
    return _table(trace).links


@cache
def _setup(trace: Trace) -> dict[str, Any]:
    return next(frame.message for frame in trace.frames if frame.message["t"] == "setup")


def _table(trace: Trace) -> TableTerms:
    body = parse(Record(*_setup(trace)["records"][0]))
    assert isinstance(body, TableTerms)
    return body


def _section(number: int, frame: Frame, trace: Trace, shown: dict[bytes, int]) -> Iterator[str]:
    message = frame.message
    yield f"## {number}. {_way(frame, trace)}: {message['t']}"
    yield ""
    yield _words(frame, message)
    yield ""
    yield from ("```json", json.dumps(projected(message), ensure_ascii=False), "```")
    decoded = [*_decoded(message, number, shown), *_opened(frame, trace)]
    if decoded:
        yield from ("```text", *decoded, "```")
    yield from ("```hex", *wrap(frame.raw.hex(), _HEX_WIDTH), "```", "")


def _way(frame: Frame, trace: Trace) -> str:
    if frame.sender is not None:
        return f"{NAMES[frame.sender]} to the server"
    everybody = len(frame.receivers) == trace.script.seats
    return "the server to " + ("everybody" if everybody else _names(frame))


def _names(frame: Frame) -> str:
    return " and ".join(NAMES[i] for i in frame.receivers)


def _words(frame: Frame, message: dict[str, Any]) -> str:
    fields = {"who": _names(frame), "re": message.get("re"), "at": message.get("at"), **message}
    if frame.sender is not None:
        fields["who"] = NAMES[frame.sender]
        return _said(message).format(**fields)
    if message["t"] == "record":
        return f"Position {message['k']}. {_RECORDS[_kind(_body(message))]}"
    return _HEARD[message["t"]].format(**fields)


def _said(message: dict[str, Any]) -> str:
    if message["t"] != "act":
        return _SAID[message["t"]]
    if "body" in message:
        return _SIGNED[dec(message["body"])[0].removeprefix("truc/1/")]
    return "{who} chooses `{choose}`."


def _body(message: dict[str, Any]) -> AnyBody:
    return parse(Record(message["signer"], message["body"], message["sig"]))


def _kind(body: AnyBody) -> str:
    return tag_of(body).removeprefix("truc/1/")


def projected(value: Any) -> Any:
    """Say a value in JSON, `bin` in base64 and long ones by their length alone."""
    match value:
        case dict():
            return {key: projected(item) for key, item in value.items()}
        case list():
            return [projected(item) for item in value]
        case bytes() if len(value) <= _SHOWN_BYTES:
            return base64.b64encode(value).decode()
        case bytes():
            return f"({len(value)} bytes)"
        case _:
            return value


def _decoded(message: dict[str, Any], number: int, shown: dict[bytes, int]) -> Iterator[str]:
    """Write what is packed inside a message, in clear: once, then only where it stands."""

    def told(what: str, packed: bytes, decoded: str) -> str:
        first = shown.setdefault(packed, number)
        return f"{what}: {decoded}" if first == number else f"{what}: as in frame {first}"

    if "info" in message:
        yield told(
            "info", message["info"], json.dumps(projected(unpack(message["info"])), ensure_ascii=False)
        )
    if "body" in message:
        yield told("body", message["body"], _array(dec(message["body"])))
    for record in [message["record"]] if "record" in message else message.get("records", []):
        yield told(f"body of signer {record[0]}", record[1], _array(dec(record[1])))


def _array(value: Any) -> str:
    match value:
        case list():
            return "[" + ", ".join(map(_array, value)) + "]"
        case bytes():
            return value.hex() if value else '""'
        case None:
            return "nil"
        case _:
            return json.dumps(value)


def _opened(frame: Frame, trace: Trace) -> Iterator[str]:
    """Open what is sealed for the seats with a key."""
    message = frame.message
    is_deal = message["t"] == "record" and isinstance(_body(message), Deal)
    if not is_deal and not (message["t"] == "options" and "box" in message):
        return
    for seat in [seat for seat in frame.receivers if seat < len(trace.secrets)]:
        yield (_opened_hand if is_deal else _opened_options)(message, trace, seat)


def _shared(trace: Trace, seat: int) -> bytes:
    return keys.box_key(trace.secrets[seat].x).exchange(_table(trace).x)


def _opened_hand(message: dict[str, Any], trace: Trace, seat: int) -> str:
    body, mid = _body(message), _setup(trace)["match"]
    assert isinstance(body, Deal)
    hand = boxes.open_hand(_shared(trace, seat), mid, j=body.j, d=body.d, seat=seat, box=body.boxes[seat])
    return f"boxes[{seat}], opened: {_array([[card, salt] for card, salt in hand])}"


def _opened_options(message: dict[str, Any], trace: Trace, seat: int) -> str:
    mid = _setup(trace)["match"]
    place = {"seat": seat, "at": message["at"], "offer": message["offer"], "after": boxes.NO_COUNTER}
    key = boxes.downward_key(_shared(trace, seat), mid, seat)
    opened = boxes.open_options(key, mid, box=message["box"], **place)
    options = [[option.kind, list(option.args), option.line, list(option.hints)] for option in opened.options]
    return f"box, opened: counter {opened.counter}, {_array(_lists(options))}"


def _lists(value: Any) -> Any:
    return [_lists(item) for item in value] if isinstance(value, list | tuple) else value


def main() -> None:
    """Write every page."""
    FOLDER.mkdir(exist_ok=True)
    for path, text in pages():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
