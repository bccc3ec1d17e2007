"""The table in a browser, as the terminal's commands open it: what they say of it, serve and carry."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial

import pytest
import trio
from chaos.servers import free_port
from client.browser import needs_browser
from client.running import Process
from client.serving import RealServer
from page.playing import NAMES, people, without_lost_connections
from server.admins import host_says, hosting
from server.browsers import Door, door
from server.conftest import QUICK, changed, together
from server.rawclient import RawClient, RawSeat
from wsproto import WSConnection
from wsproto.connection import ConnectionType
from wsproto.events import Request, TextMessage

from truc_client.address import Address
from truc_client.connecting import connect, meet
from truc_client.home.account import Player
from truc_client.home.home import open_home
from truc_conform import websocket
from truc_conform.server_visit import read_address
from truc_protocol.audit import verify
from truc_protocol.crypto.certificates import make_certificate
from truc_terminal.commands.in_person import tell_invite
from truc_terminal.commands.terminal import own_screen
from truc_terminal.web_carrier import WebCarrier
from truc_web.tree import read_tree


async def test_whoever_opens_a_table_is_told_its_link_for_browsers(tmp_path, capsys):
    for origin in ("", "https://truc.example"):
        async with (
            door(tmp_path / "data", origin=origin) as web,
            connect(f"127.0.0.1:{web.server.port}", Player(open_home(tmp_path), "north")) as server,
        ):
            table = await server.create("truc-french", private=True)
            assert table.web_invite == f"{web.origin}/t/{table.code}"
            tell_invite(table, own_screen(plain=True, no_color=True))
            await table.leave()
        assert f"in a browser: {web.origin}/t/{table.code}\n" in capsys.readouterr().out


@dataclass
class Carried(Door):
    """What `truc web` serves, and the browser that has its pass, if `cookie` says so."""

    carrier: WebCarrier
    strangers: list
    cookie: str | None = None

    def request(self, path, method="GET", **headers):
        return super().request(path, method, **{"Cookie": self.cookie, **headers})

    async def let_in(self):
        """Open the link, as the program has printed it."""
        status, headers, _ = await self.ask(self.carrier.link.removeprefix(self.origin))
        self.cookie = headers["set-cookie"].partition(";")[0]
        return status, headers

    async def local(self):
        return json.loads((await self.ask("/local.json"))[2])

    async def client(self):
        """Return a client as the page is one, in a WebSocket."""
        binding = (await self.local())["binding"]
        stream, at = await self.connect(), read_address(f"ws://{self.host}").origin
        socket = WSConnection(ConnectionType.CLIENT)
        headers = [(b"Origin", self.origin.encode()), (b"Cookie", self.cookie.encode())]
        asked = Request(host=self.host, target="/ws", subprotocols=["truc.1"], extra_headers=headers)
        await stream.send_all(socket.send(asked))
        carried = await websocket._upgraded(stream, socket, at)
        carried.cert = binding and bytes.fromhex(binding)
        self.server.clients.append(client := RawClient(carried))
        return client


@asynccontextmanager
async def carrying(path, settings=QUICK):
    """Run a server without a door for browsers, and what `truc web` would run for it."""
    async with hosting(path / "data", settings) as server, trio.open_nursery() as tasks:
        address = Address("127.0.0.1", server.port, is_tls=settings.listen.tls)
        met = await meet(address, Player(open_home(path / "home"), "north"))
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port = listeners[0].socket.getsockname()[1]
        origin, strangers = f"http://localhost:{port}", []
        carrier = WebCarrier(met, origin, read_tree(), "/t/K7PQ2", partial(strangers.append, 1))
        tasks.start_soon(trio.serve_listeners, carrier.serve, listeners)
        carried = Carried(carrier, strangers)
        Door.__init__(carried, server, port, origin)
        yield carried
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize("tls", [False, True])
async def test_whole_matches_are_carried_and_the_hello_is_checked_against_the_certificate(tmp_path, tls):
    async with carrying(tmp_path, changed(QUICK, listen={"tls": tls})) as web:
        await web.let_in()
        told = await web.local()
        assert told["server"] == f"127.0.0.1:{web.server.port}"
        assert (told["binding"] is not None) == tls
        seats = [RawSeat(await web.client(), seed=n) for n in range(2)]
        for seat in seats:
            assert (await seat.login())["t"] == "welcome"
        table = await seats[0].create("truc-french", seats=2, options={"target": 3})
        await seats[1].join(table, 1)
        for seat in seats:
            await seat.ready()
        await together(*(seat.play for seat in seats))
        for seat in seats:
            seat.proven()


async def test_a_link_is_good_once_and_nobody_else_gets_in(tmp_path):
    async with carrying(tmp_path) as web:
        path = web.carrier.link.removeprefix(web.origin)
        for each in ("/", "/t/K7PQ2", "/local.json", "/door", "/ws"):
            assert (await web.ask(each))[0] == 403
        assert len(web.strangers) == 5
        assert (await web.ask(path, Host="evil.example"))[0] == 421
        assert (await web.ask(path, Origin="https://evil.example"))[0] == 403
        assert [(await web.ask(path, "HEAD"))[0], (await web.ask(f"{path}x"))[0]] == [404, 404]
        status, headers = await web.let_in()
        assert (status, headers["location"]) == (303, "/t/K7PQ2")
        assert headers["set-cookie"].endswith("; HttpOnly; SameSite=Strict; Path=/")
        assert (await web.ask(path))[0] == 404
        status, headers, body = await web.ask("/t/K7PQ2")
        assert (status, "content-security-policy" in headers) == (200, True)
        assert f"truc://127.0.0.1:{web.server.port}#".encode() in body
        assert (await web.ask("/", Host=f"127.0.0.1:{web.port}"))[1]["location"] == f"{web.origin}/"
        for wrong in ({"Origin": "null"}, {"Origin": "http://localhost:1"}, {"Cookie": f"{web.cookie}x"}):
            stream, status, _ = await web.upgrade(**wrong)
            await trio.aclose_forcefully(stream)
            assert status == 403
        assert web.carrier.link.removeprefix(web.origin) != path


async def test_a_renewed_certificate_is_told_before_anything_is_carried(tmp_path):
    own = tmp_path / "own.pem"
    own.write_bytes(make_certificate(int(time.time()), lasts_s=86_400))
    settings = changed(QUICK, listen={"tls": True, "certificate": str(own), "certificate_key": str(own)})
    async with carrying(tmp_path, settings) as web:
        await web.let_in()
        before = (await web.local())["binding"]
        own.write_bytes(make_certificate(int(time.time()), lasts_s=86_400))
        await host_says(web.server.folder, command="reload")
        stream, status, (_, headers, _) = await web.upgrade()
        await trio.aclose_forcefully(stream)
        assert (status, headers["retry-after"]) == (503, "1")
        assert (await web.local())["binding"] != before
        assert (await (await web.client()).login_guest())["t"] == "welcome"


async def test_ends_are_passed_on(tmp_path):
    async with carrying(tmp_path) as web:
        await web.let_in()
        talker, shouter = await web.client(), await web.client()
        await talker.stream.stream.send_all(talker.stream._socket.send(TextMessage("hello")))
        assert [m async for m in told_until_the_end(talker)] == [1003]
        await shouter.send({"t": "ping", "n": "x" * 9_000})
        assert [m async for m in told_until_the_end(shouter)] == ["frame_too_large", "frame_too_large", 1011]
        stays = await web.client()
        assert (await stays.login_guest())["t"] == "welcome"
        web.server.stop()
        assert [m async for m in told_until_the_end(stays)] == ["shutting_down", 1011]
        stream, status, _ = await web.upgrade()
        await trio.aclose_forcefully(stream)
        assert status == 503
        assert json.loads((await web.ask("/door"))[2]) == {"code": "not_now", "retry_after_ms": 1000}


async def told_until_the_end(client):
    """Yield the codes of what ends a connection, and the status of the close frame."""
    for message in await client.closed():
        if message["t"] in ("error", "bye"):
            yield message["code"]
    yield client.stream.status


def test_the_tree_is_named_and_a_taken_port_is_told(truc, real_server):
    assert truc("web", "--tree").stdout == f"{read_tree().name}\n"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        told = truc("web", real_server.url, "--port", taken.getsockname()[1], "--no-browser")
    assert (told.exit_code, "--port takes another" in told.stderr) == (1, True)


@pytest.fixture
def asking(tmp_path):
    """Return a way to run `truc` with a browser that writes its address into a file, and that file."""
    program, asked = tmp_path / "browser", tmp_path / "asked"
    program.write_text(f'#!/bin/sh\necho "$1" > {asked}.new && mv {asked}.new {asked}\n')
    program.chmod(0o755)
    return partial(told_by, tmp_path / "home", BROWSER=f"{program} %s", LC_ALL="C.UTF-8"), asked


@contextmanager
def told_by(home, *command, **environment):
    """Run `truc` and give what it prints; it ends as by Ctrl+C."""
    with Process(home, *command, **environment) as running:
        yield running.process.stdout
        running.process.send_signal(signal.SIGINT)
        assert running.process.wait(20) == 130


@needs_browser
@pytest.mark.slow
def test_a_browser_is_opened_at_the_page_and_may_speak_with_the_server(real_server, chrome, asking):
    told_by_truc, asked = asking
    with told_by_truc("web", real_server.url, "--port", "0") as printed:
        lines = [printed.readline() for _ in range(2)]
        link = re.search(r"http://localhost:\d+/open/\S+", lines[1])[0]
        with chrome.somebody() as page:
            page.visit(link)
            assert page.look("location.pathname") == "/"
            told = page.wait_for("fetch('/local.json').then((answer) => answer.json())")
            key = str(real_server.address.fingerprint)
            where = {"server": f"127.0.0.1:{real_server.port}", "fingerprint": key}
            assert told == {**where, "binding": None, "revoked": []}
            opened = "const it = new WebSocket('ws://' + location.host + '/ws', 'truc.1'); it.onopen = () => done(it.protocol)"
            assert page.wait_for(f"new Promise((done) => {{ {opened} }})") == "truc.1"
            page.visit(link)
            assert "used already" in page.look("document.body.textContent")
        assert asked.read_text().strip() == link


@needs_browser
@pytest.mark.slow
def test_the_hosts_invite_for_browsers_makes_a_member_of_whoever_opens_it(chrome, tmp_path):
    web = {"TRUC_WEB_LISTEN": f"127.0.0.1:{free_port()}", "TRUC_ACCESS_MEMBERS": "invite"}
    with RealServer(tmp_path / "data", web) as server:
        command = [sys.executable, "-m", "truc_server", "invite", "--data", str(server.data)]
        told = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **web})
        link = told.stdout.splitlines()[1]
        with chrome.somebody() as page:
            page.visit(link.partition("#")[0])
            page.wait_until("document.body.innerText.includes('does not admit your key')")
        with chrome.somebody() as page:
            page.visit(link)
            page.wait_until("document.body.innerText.includes('Online: 1')")


@needs_browser
@pytest.mark.slow
@pytest.mark.parametrize("deal", [(), ("--deal", "blind")], ids=["server", "seats"])
def test_bots_wait_in_the_demo_for_whoever_opens_the_link(chrome, asking, deal):
    told_by_truc, asked = asking
    options = ["--variant", "truc-french", "--option", "target=3", "--style", "careless", *deal]
    with people(chrome, None, 1) as (person,):
        with told_by_truc("demo", "--web", *options) as printed:
            link = next(re.search(r"http://\S+", line)[0] for line in printed if "http://" in line)
            person.page.visit(link)
            person.say_name(NAMES[0])
            person.page.wait_until("document.querySelector('.hand')")
            person.begin(1)
            assert person.play()["isOver"]
            assert verify(person.saved()).host_saw_no_card is bool(deal)
            assert "PROVEN" in next(line for line in printed if line.startswith("Verified"))
            assert asked.read_text().strip() == link
        without_lost_connections(person.page)
