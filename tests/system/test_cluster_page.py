"""The page on clusters, done word for word on loopback: three nodes, a load balancer before them, a node that dies, a restore."""

import os
import re
import shutil
import subprocess
import tomllib
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from itertools import cycle
from pathlib import Path

import pytest
import trio
from chaos.postgres import cluster, programs
from chaos.seating import entrance, playing
from chaos.servers import HOST, PATIENCE_S, QUICK, free_port, listening, serving
from click.testing import CliRunner
from server.admins import cluster_of
from server.conftest import play_out
from server.restarting import come_back, play_until_gone

from truc_server.commands.checking import contradictions
from truc_server.main import main
from truc_server.settings.folder import Folder
from truc_server.settings.settings import Settings
from truc_server.settings.settings_file import load
from truc_server.storage.backups import read_restored

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "hosting" / "cluster.md").read_text("utf-8")
SERVICE = ROOT / "server" / "service"
COMPOSE = (SERVICE / "cluster.compose.yaml").read_text("utf-8")
NGINX_CONF = (SERVICE / "cluster.nginx.conf").read_text("utf-8")
NAMES = ("one", "two", "three")
STREAMS = Path("/usr/lib/nginx/modules/ngx_stream_module.so")
NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
HAPROXY = shutil.which("haproxy", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
needs_postgresql = pytest.mark.skipif(
    programs() is None, reason="needs PostgreSQL (Debian's package postgresql)"
)
BALANCERS = [
    name for name, is_here in (("nginx", NGINX and STREAMS.exists()), ("haproxy", HAPROXY)) if is_here
]
needs_balancer = pytest.mark.skipif(
    not BALANCERS,
    reason="needs nginx with streams (Debian's package libnginx-mod-stream) or HAProxy (haproxy)",
)


def blocks(kind: str) -> list[str]:
    """Return the blocks of a kind that the page shows."""
    return re.findall(rf"^```{kind}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def line_with(text: str) -> str:
    """Return the command line of the page that begins so."""
    (line,) = [line for block in blocks("sh") for line in block.splitlines() if line.startswith(text)]
    return line


def variables(text: str) -> dict[str, str]:
    """Return what a part of the compose file sets."""
    return {name: value.strip('"') for name, value in re.findall(r"^ +(TRUC_\w+): (.*)$", text, re.MULTILINE)}


def service(name: str) -> str:
    """Return the part of the compose file that is about a service."""
    return re.search(rf"^  {name}:\n((?:    .*\n|\n)*)", COMPOSE, re.MULTILINE)[1]


class TestContainers:
    @pytest.mark.parametrize("name", NAMES)
    def test_settings_of_each_node_go_together(self, name):
        shared = COMPOSE.split("x-settings: ")[1].split("services:")[0]
        set_ = variables(shared) | variables(service(name))
        settings = load(file=None, environ=set_, flags={})
        assert [found.text for found in contradictions(settings) if not found.is_right] == []
        assert (settings.cluster.node, settings.cluster.inner.split(":")[0]) == (name, name)
        assert f"- {name}:/var/lib/truc" in service(name)

    def test_database_is_the_one_that_is_made(self):
        user, password, name = (
            re.search(rf"POSTGRES_{what}: (\S+)", COMPOSE)[1] for what in ("USER", "PASSWORD", "DB")
        )
        assert f"TRUC_STORE_URL: postgresql://{user}:{password}@db/{name}\n" in COMPOSE

    def test_balancer_knows_every_node_at_its_port(self):
        port = Settings().listen.port
        assert re.findall(r"server (\w+:\d+) ", NGINX_CONF) == [f"{name}:{port}" for name in NAMES]
        assert f'- "{port}:{port}"' in service("balancer")

    def test_build_takes_what_the_file_of_the_image_lets_be_chosen(self):
        image = (SERVICE / "Containerfile").read_text()
        (extras,) = re.findall(r"EXTRAS: (\w+)", COMPOSE)
        assert "ARG EXTRAS=server" in image
        assert f"\n{extras} = [" in (ROOT / "pyproject.toml").read_text()


def test_settings_of_the_page_go_together():
    (text,) = blocks("toml")
    set_ = {**tomllib.loads(text), "listen": {"public_host": "one.truc.example.org", "tls": True}}
    given = {
        f"{section}.{name}": ("", value) for section, values in set_.items() for name, value in values.items()
    }
    assert [
        found.text for found in contradictions(load(file=None, environ={}, flags=given)) if not found.is_right
    ] == []


def put(settings: Path, **values: str) -> None:
    """Set values in a settings file as its reader does: in the line that is there."""
    text = settings.read_text()
    for name, value in values.items():
        section, _, key = name.partition("_")
        head, found, rest = text.partition(f"[{section}]\n")
        assert found
        text = (
            head
            + found
            + re.sub(rf"^#? ?{key} = .*$", f'{key} = "{value}"', rest, count=1, flags=re.MULTILINE)
        )
    settings.write_text(text)


class Machines:
    """Three data folders, as the page has them filled, and the nodes on them."""

    def __init__(self, root: Path, url: str) -> None:
        self.root = root
        self.url = url
        self.ports = {name: free_port() for name in NAMES}
        self.nodes = {}

    def folder(self, name: str) -> Folder:
        return Folder(self.root / name)

    def set_up(self) -> None:
        """Follow the steps up to the start."""
        init = line_with("truc-server init").replace(" --tls", "").split('"')
        words = [*init[0].split()[1:], init[1], *init[2].split()]
        made = CliRunner().invoke(main, [*words, "--data", str(self.folder("one").root)])
        assert made.exit_code == 0, made.stderr
        for name in NAMES[1:]:
            self.folder(name).root.mkdir(mode=0o700)
            copy = line_with("tar -C /var/lib/truc -cp").replace("ssh root@two.truc.example.org ", "")
            before, after = copy.split("|")
            here, there = (str(self.folder(each).root) for each in ("one", name))
            line = f"{before.replace('/var/lib/truc', here)}|{after.replace('/var/lib/truc', there)}"
            subprocess.run(["/bin/sh", "-c", line], check=True)
        for name, port in self.ports.items():
            put(
                self.folder(name).settings,
                listen_public_host=HOST,
                store_url=self.url,
                cluster_node=name,
                cluster_public=f"{HOST}:{port}",
                cluster_inner=f"{HOST}:{free_port()}",
            )

    @asynccontextmanager
    async def running(self, names=NAMES, **more: str):
        """Run every node, or some."""
        async with AsyncExitStack() as stack:
            for name in names:
                place = serving(self.folder(name).root, {**QUICK, **more}, port=self.ports[name])
                self.nodes[name] = await stack.enter_async_context(place)
            yield

    async def without(self, name: str, *, at: str) -> None:
        """Wait until a node knows another no more."""
        with trio.fail_after(PATIENCE_S):
            while True:
                if name not in await self.cluster(at):
                    return
                await trio.sleep(0.1)

    async def cluster(self, name: str) -> dict[str, dict]:
        return await cluster_of(self.folder(name))


def balancer_of(kind: str, folder: Path, port: int, ports: dict[str, int]) -> list[str]:
    """Return the command of a load balancer with the page's own lines, on the ports of the test."""
    text = NGINX_CONF if kind == "nginx" else blocks("haproxy")[0]
    for name, to in ports.items():
        text = text.replace(f"{name}:7373", f"{HOST}:{to}")
    if kind == "nginx":
        whole = text.replace("listen 7373", f"listen {HOST}:{port}")
        module = f"load_module {STREAMS};\nevents {{}}\ndaemon off;\npid {folder}/pid;\nerror_log stderr;\n"
        (folder / "nginx.conf").write_text(module + whole)
        return [str(NGINX), "-p", str(folder), "-c", str(folder / "nginx.conf")]
    (folder / "haproxy.cfg").write_text(text.replace("bind :7373", f"bind {HOST}:{port}"))
    return [str(HAPROXY), "-db", "-f", str(folder / "haproxy.cfg")]


@asynccontextmanager
async def balanced(kind: str, machines: Machines):
    """Run a load balancer before the nodes."""
    port = free_port()
    command = balancer_of(kind, machines.root, port, machines.ports)
    dial = partial(trio.open_tcp_stream, HOST, port)
    async with listening(command, port, machines.root / f"{kind}.log"), entrance(dial) as players:
        yield players


@pytest.fixture(scope="module")
def postgres():
    with cluster() as running:
        yield running


@pytest.fixture
def machines(tmp_path, postgres) -> Machines:
    made = Machines(tmp_path, postgres.create(f"of_{tmp_path.name.lower()[-40:]}"))
    made.set_up()
    return made


@needs_postgresql
@needs_balancer
@pytest.mark.slow
async def test_match_behind_one_address_goes_on_when_its_node_is_killed(machines):
    """Where both balancers are, one of the players comes in by each."""
    async with (
        machines.running(TRUC_CLUSTER_ROUTE="proxy", TRUC_CLUSTER_LEASE_S="3"),
        AsyncExitStack() as stack,
    ):
        for name in NAMES:
            told = (
                CliRunner()
                .invoke(main, ["check", "--data", str(machines.folder(name).root)], env=QUICK)
                .stdout
            )
            assert "ok     cluster: the keys are those of the nodes\n" in told
        shown = await machines.cluster("two")
        assert {name: row["public"] for name, row in shown.items()} == {
            name: f"{HOST}:{port}" for name, port in machines.ports.items()
        }
        entrances = [await stack.enter_async_context(balanced(kind, machines)) for kind in BALANCERS]
        ways = cycle(entrances)
        seats = await playing(lambda: next(ways).connect(), match=1)
        (owner,) = [name for name, row in (await machines.cluster("one")).items() if row["tables"]]
        await machines.nodes[owner].kill()
        (left, *_) = [name for name in NAMES if name != owner]
        await machines.without(owner, at=left)
        await play_until_gone(*seats)
        for seat, entrance in zip(seats, cycle(entrances), strict=False):
            await come_back(entrance, seat)
        await play_out(seats)


@needs_postgresql
@pytest.mark.slow
async def test_restored_dump_holds_what_was_under_way_until_every_player_is_back(machines):
    dial = partial(trio.open_tcp_stream, HOST, machines.ports["one"])
    async with machines.running(["one"]), entrance(dial) as players:
        seats = await playing(players.connect, match=1)
        dump(machines)
    restore(machines)
    told = CliRunner().invoke(main, ["restore", "--dump", "--data", str(machines.folder("one").root)])
    assert told.stdout.startswith("matches under way: 1, each goes on when all of its players are back")
    for name in NAMES[1:]:
        shutil.copy2(machines.folder("one").restored, machines.folder(name).restored)
    assert len(read_restored(machines.folder("three")).matches) == 1
    async with machines.running(NAMES[:2]), entrance(dial) as players:
        await come_back(players, *seats)
        await play_out(seats)


def of_postgres(machines: Machines, line: str) -> None:
    """Run a line of the page with PostgreSQL's own programs."""
    address, name = machines.url.rsplit("/", 1)
    host, port = address.rpartition("@")[2].split(":")
    line = line.replace("postgresql://truc@10.0.0.9/truc", machines.url).replace(
        "10.0.0.9", f"{host} --port {port}"
    )
    line = re.sub(r"(--owner) truc truc$", rf"\1 postgres {name}", line)
    line = re.sub(r" truc$", f" {name}", line).replace("/var/backups/truc", str(machines.root))
    subprocess.run(["/bin/sh", "-c", f"{programs()}/{line}"], check=True, capture_output=True)


def dump(machines: Machines) -> None:
    of_postgres(machines, line_with("pg_dump"))
    keys = line_with("tar -C /var/lib/truc -czf").replace("/var/lib/truc", str(machines.folder("one").root))
    subprocess.run(
        ["/bin/sh", "-c", keys.replace("/var/backups/truc", str(machines.root))],
        check=True,
        capture_output=True,
    )
    listed = subprocess.run(
        ["tar", "-tzf", machines.root / "keys.tar.gz"], check=True, capture_output=True, text=True
    )
    assert {"identity.pem", "secrets.key", "truc.toml"} <= set(listed.stdout.split())


def restore(machines: Machines) -> None:
    for program in ("dropdb", "createdb", "pg_restore"):
        of_postgres(machines, line_with(program))
