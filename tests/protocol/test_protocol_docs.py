"""The protocol's chapters: every example in them is what the code does, every figure is the code's figure."""

import re
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from rows import each_row

from truc_docs.protocol.examples import EXAMPLES, INFO
from truc_docs.protocol.messages import PARTS
from truc_protocol import codec
from truc_protocol.crypto.keys import fingerprint, player_seed, signing_key_from_seed
from truc_protocol.errors import Code
from truc_protocol.ledger import facts as meaning
from truc_protocol.messages import (
    MESSAGES,
    Choice,
    ClientHello,
    Create,
    GuestAct,
    GuestLogin,
    Join,
    KeyLogin,
    ListTables,
    MatchRecord,
    Ok,
    OpenOptions,
    Ping,
    Pong,
    Ready,
    TableState,
    Welcome,
    encode_info,
    refusal,
)
from truc_protocol.setup import Opts
from truc_protocol.wire import encoding
from truc_protocol.wire.connection import MAX_OUTSTANDING, ConnectionEnd, Failure, Role, State
from truc_protocol.wire.handshake import (
    MAX_ROLLS,
    Challenge,
    Greeting,
    KnownServer,
    authenticate,
    check_login,
    check_server_hello,
    server_hello,
)
from truc_rules import TABLE_OPTIONS, Event

DOCS = Path(__file__).parents[2] / "docs" / "protocol"
CHAPTERS = sorted(DOCS.glob("*.md"))
SERVER, PLAYER = signing_key_from_seed(b"\x01" * 32), signing_key_from_seed(b"\x02" * 32)
CN, SN = b"\xc1" * 32, b"\x51" * 32
TAG = "guest-6W6AX7L4MOFSUV3EQN2Z"


def chapter(name):
    return (DOCS / name).read_text(encoding="utf-8")


def blocks(text, label):
    """Return the fenced blocks that carry exactly this label."""
    return re.findall(rf"^```{label}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def block_bytes(text, label):
    return [bytes.fromhex(block) for block in blocks(text, label)]


def first_exchange():
    """Make the exchange of the README: the messages, the frames of each side, and both connections."""
    client, server = ConnectionEnd(Role.CLIENT), ConnectionEnd(Role.SERVER)
    sent = {Role.CLIENT: [], Role.SERVER: []}

    def say(sender, receiver, message):
        sent[sender.role].append(sender.send(message))
        receiver.receive(sent[sender.role][-1])

    say(client, server, ClientHello(id=1, proto=(1,), cn=CN))
    hello = server_hello(Greeting(SERVER, SN, 1, encode_info(INFO)), 1, server.hello_frame(Role.CLIENT))
    say(server, client, hello)
    hellos = {role: client.hello_frame(role) for role in Role}
    say(client, server, GuestLogin(id=2, name="Ana"))
    say(server, client, Welcome(re=2, name="Ana", player=TAG, token="qRw5Jt1mYdX0cVbN7aHk"))
    say(client, server, ListTables(id=3))
    say(server, client, Ok(re=3, tables=()))
    return sent, hello, hellos


@each_row("role, label", [(Role.CLIENT, "hex client"), (Role.SERVER, "hex server")])
def test_readme_shows_the_bytes_of_a_first_exchange(role, label):
    sent, _, _ = first_exchange()
    assert block_bytes(chapter("README.md"), label) == sent[role]


def anchors(path):
    """Return the anchors of a page's headings, as they are made from their words."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    found = []
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        slug = re.sub(r"[^\w -]", "", re.sub(r"\]\([^)]*\)", "", heading).lower()).replace(" ", "-")
        earlier = sum(1 for anchor, _ in found if anchor == slug)
        found.append((slug, f"{slug}-{earlier}" if earlier else slug))
    return {anchor for _, anchor in found}


@each_row("path", CHAPTERS)
def test_links_to_headings_lead_to_one(path):
    links = re.findall(r"\]\(([^)\s:]*)#([^)]+)\)", path.read_text(encoding="utf-8"))
    targets = [((path.parent / name).resolve() if name else path, anchor) for name, anchor in links]
    assert [(page.name, anchor) for page, anchor in targets if anchor not in anchors(page)] == []


@each_row("path", CHAPTERS)
def test_codes_named_in_a_chapter_exist(path):
    known = {code.value for code in Code} | {row.tag for row in MESSAGES}
    forms = [form.message for row in MESSAGES for form in row.forms]
    known |= {field.encode_name for form in forms for field in msgspec.structs.fields(form)}
    known |= {field.encode_name for part in PARTS for field in msgspec.structs.fields(part)}
    known |= {"now_ms", "not_before", "big_endian", "last_point"}
    named = re.findall(r"`([a-z]+(?:_[a-z]+)+)`", path.read_text(encoding="utf-8"))
    known |= {*Opts._fields, *TABLE_OPTIONS, "hand_end", "truc_client"}
    facts = set(re.findall(r"^(?:\*|\|) `(\w+)`", chapter("facts.md"), re.MULTILINE))
    assert set(named) - facts <= known


# Transport


@each_row(
    "received, answer",
    re.findall(r"^\* `((?:[0-9a-f]{2} ?)+)`: `?(.*?)`?$", chapter("transport.md"), re.MULTILINE),
)
def test_first_bytes_get_the_answer_of_the_chapter(received, answer):
    (failure,) = ConnectionEnd(Role.SERVER).receive(bytes.fromhex(received))
    assert answer == ("one line of text" if failure.line else failure.code)


# Security


def test_security_shows_what_server_and_player_sign_which_is_taken_and_their_fingerprint_and_seed():
    _, hello, hellos = first_exchange()
    server = check_server_hello(hello, KnownServer(hellos[Role.CLIENT], (1,), None, 1_790_000_000))
    signed = authenticate(PLAYER, server, cn=CN, hello_frame=hellos[Role.SERVER])
    labels = ("hex hello", "hex hello-sig", "hex auth", "hex auth-sig")
    shown = [block_bytes(chapter("security.md"), label) for label in labels]
    assert shown == [[hello.body], [hello.sig], [signed.body], [signed.sig]]
    login = KeyLogin(id=2, body=signed.body, sig=signed.sig)
    assert check_login(login, Challenge(SERVER.public, CN, SN, hellos[Role.SERVER])) == PLAYER.public
    assert f"`{fingerprint(SERVER.public)}`" in chapter("security.md")
    assert f"`{player_seed(bytes(32), bytes(range(32))).hex()}`" in chapter("security.md")


# Figures


def test_limits_are_those_of_the_code():
    sizes = chapter("limits.md").split("\n## Sizes\n")[1].split("\n## ")[0]
    stated = {what: int(most) for what, most in re.findall(r"^\* ([^:]*): (\d+)", sizes, re.MULTILINE)}
    of_the_server = {
        "body that a player signs",
        "the same in mode blind, where a mask is the longest",
    }  # tests/server/test_limits_page.py holds them to its code
    assert {what: most for what, most in stated.items() if what not in of_the_server} == {
        "frame from a client before `welcome`": encoding.LOGIN_LIMIT,
        "frame from a client after `welcome`": encoding.CLIENT_LIMIT,
        "frame from a server": encoding.SERVER_LIMIT,
        "arrays and maps inside each other": codec.MAX_MESSAGE_DEPTH,
        "requests without a reply": MAX_OUTSTANDING,
        "rotations in a hello": MAX_ROLLS,
        "text of an error": len(refusal(Code.INTERNAL, "x" * 9999).msg),
    }


def test_messages_and_fields_drawn_in_play_exist():
    fields = {row.tag: set() for row in MESSAGES}
    for row in MESSAGES:
        for form in row.forms:
            fields[row.tag] |= {field.encode_name for field in msgspec.structs.fields(form.message)}
    messages = re.findall(r"^(?:client|server)  (\w+) \{", chapter("play.md"), re.MULTILINE)
    assert messages
    assert set(messages) <= fields.keys()
    drawn = re.findall(r"(\w+) \{([\w, ]+)\}", chapter("play.md") + chapter("session.md"))
    assert drawn
    assert [tag for tag, names in drawn if not set(names.split(", ")) <= fields[tag]] == []


# Facts


@each_row("event", get_args(Event))
def test_fact_of_every_event_is_listed_with_its_fields(event):
    values = [(0,) if name == "cards" else 0 for name in event._fields]
    fact = meaning.event_fact(event(*values), ("7e",))
    listed = dict(re.findall(r"^\* `(\w+)`(?: \(([^)]*)\))?: ", chapter("facts.md"), re.MULTILINE))
    assert listed[fact["what"]] == ", ".join(f"`{name}`" for name in fact if name != "what")


# The client guide


class ScriptedServer:
    """A socket whose other end is a server with one table; it deals one decision and ends the match."""

    def __init__(self):
        self.connection = ConnectionEnd(Role.SERVER)
        self.heard = []
        self.unread = b""

    def sendall(self, sent):
        for message in self.connection.receive(sent):
            assert not isinstance(message, Failure), message
            self.heard.append(message)
            self.reply(message)

    def recv(self, size):
        piece, self.unread = self.unread[: min(size, 3)], self.unread[min(size, 3) :]
        return piece

    def say(self, message):
        self.unread += self.connection.send(message)

    def reply(self, message):
        match message:
            case ClientHello():
                frame = self.connection.hello_frame(Role.CLIENT)
                self.say(server_hello(Greeting(SERVER, SN, 1, encode_info(INFO)), message.id, frame))
            case GuestLogin():
                self.say(Welcome(re=message.id, name=message.name, token="t" * 16))
            case Create():
                self.say(Ok(re=message.id, table="K7PQ", seat=0))
            case Join():
                self.say(Ping(n=5))
                self.say(msgspec.structs.replace(TABLE, state="over"))
                self.say(Ok(re=message.id, seat=1))
            case Ready():
                self.say(options(must=False, key="raise 2"))
                self.say(options(must=True, key="play 7e"))
                self.say(Ok(re=message.id))
            case GuestAct():
                self.say(Ok(re=message.id, k=6))
                self.say(Ping(n=6))
                self.say(END)
            case _:
                pass


TABLE = next(message for _, message in EXAMPLES if type(message) is TableState)
END = MatchRecord(
    table="K7PQ",
    match=bytes(32),
    k=7,
    signer=0,
    body=b"",
    sig=bytes(64),
    means=({"what": "match_ended", "winner": 0, "reason": "won"},),
)


def options(*, must, key, hints=None):
    choices = (Choice(key=key, kind=key.split()[0], hints=hints or {}),)
    return OpenOptions(table="K7PQ", match=bytes(32), at=6, offer=5, must=must, choices=choices)


@pytest.fixture
def guide():
    """The program that the guide's blocks add up to."""
    program = {}
    exec("\n".join(blocks(chapter("client-guide.md"), "python")), program)
    return program


@pytest.fixture
def server():
    return ScriptedServer()


def test_client_of_the_guide_logs_in_answers_pings_and_plays_the_option_it_must(guide, server):
    guide["log_in"](server, "Ana")
    assert server.connection.state is State.READY
    guide["sit_down"](server, "K7PQ")
    guide["play"](server, "K7PQ")
    acts = [message for message in server.heard if isinstance(message, GuestAct)]
    assert [(act.table, act.match, act.at, act.choose) for act in acts] == [("K7PQ", bytes(32), 6, "play 7e")]
    assert [message.n for message in server.heard if isinstance(message, Pong)] == [5, 6]


def test_client_of_the_guide_opens_a_table_and_plays_the_option_that_waits_for_it_unseen(guide, server):
    guide["log_in"](server, "Ana")
    assert guide["open_table"](server, "truc-french") == "K7PQ"
    assert server.heard[-1].options["guests"] == 2
    server.say(options(must=False, key="raise 2"))
    server.say(options(must=False, key="claim 0", hints={"waits": 1}))
    guide["play"](server, "K7PQ")
    assert [message.choose for message in server.heard if isinstance(message, GuestAct)] == ["claim 0"]


def test_client_of_the_guide_says_why_it_was_refused_and_notices_the_end_of_the_connection(guide, server):
    server.reply = lambda message: None
    with pytest.raises(EOFError, match="closed the connection"):
        guide["log_in"](server, "Ana")
    server = ScriptedServer()
    server.reply = lambda message: setattr(
        server, "unread", server.connection.refuse(refusal(Code.BANNED, "ask the host", re=message.id))
    )
    with pytest.raises(SystemExit, match="banned: ask the host"):
        guide["log_in"](server, "Ana")
