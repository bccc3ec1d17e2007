"""The pages for nginx and Caddy in docs/hosting/web.md, tried with these programs: what they pass on is what the server takes."""

import re
import shutil
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from chaos.servers import free_port, listening
from server.browsers import UPGRADE, Door, answer, door
from server.conftest import QUICK, changed

PAGE = (Path(__file__).parents[2] / "docs" / "hosting" / "web.md").read_text("utf-8")
NGINX, CADDY = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin"), shutil.which("caddy")
PROXIES = [
    pytest.param(
        "nginx", marks=pytest.mark.skipif(NGINX is None, reason="needs nginx (Debian's package nginx-light)")
    ),
    pytest.param(
        "caddy", marks=pytest.mark.skipif(CADDY is None, reason="needs Caddy (Debian's package caddy)")
    ),
]


def block(name):
    """Return the configuration that the page shows for a program."""
    return re.search(rf"## Behind {name}\n\n```\w*\n(.*?)```", PAGE, re.DOTALL)[1]


def nginx(folder, port, to):
    """The page's own lines, without TLS and on free ports."""
    text = re.sub(r" +ssl_.*\n", "", block("nginx")).replace("443 ssl", f"127.0.0.1:{port}")
    text = text.replace("127.0.0.1:7374", f"127.0.0.1:{to}")
    paths = "".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    whole = f"daemon off; master_process off; pid {folder}/pid; error_log stderr; events {{}}\nhttp {{ access_log off; {paths}\n{text}}}"
    (folder / "nginx.conf").write_text(whole)
    return [NGINX, "-p", str(folder), "-c", str(folder / "nginx.conf")]


def caddy(folder, port, to):
    """The page's own lines, without TLS and on free ports."""
    text = block("Caddy").replace("truc.example.org", f"http://localhost:{port}")
    whole = "{\n    admin off\n    auto_https off\n}\n" + text.replace("127.0.0.1:7374", f"127.0.0.1:{to}")
    (folder / "Caddyfile").write_text(whole)
    return [CADDY, "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


@asynccontextmanager
async def proxied(folder, name, settings):
    """Run a server and a proxy before it; gives the door as seen from outside."""
    port = free_port()
    async with door(
        folder / "data", settings, origin=f"http://localhost:{port}", proxies=("127.0.0.1",)
    ) as web:
        command = {"nginx": nginx, "caddy": caddy}[name](folder, port, web.port)
        home = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "PATH": "/usr/bin:/usr/sbin:/bin"}
        async with listening(command, port, folder / "out", **home):
            yield Door(web.server, port, web.origin)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROXIES)
async def test_pages_and_websockets_pass_with_the_address_that_the_proxy_has_seen(tmp_path, name):
    settings = changed(QUICK, access={"banned": ("127.0.0.9",)})
    async with proxied(tmp_path, name, settings) as web:
        status, headers, body = await web.ask("/t/K7PQ2")
        assert (status, b"<h1>" in body, "content-security-policy" in headers) == (200, True, True)
        for source, expected in (("127.0.0.1", 101), ("127.0.0.9", 403)):
            stream, status = await upgraded(web, source)
            await trio.aclose_forcefully(stream)
            assert status == expected
        client = await web.client()
        assert (await client.login_guest())["t"] == "welcome"
        web.server.stop()
        rest = await client.closed()
        assert (rest[-1]["code"], client.stream.status) == ("shutting_down", 1001)


async def upgraded(web, source):
    stream = await web.connect(source)
    status, _, _ = await answer(
        stream, web.request("/ws", **UPGRADE, **{"X-Forwarded-For": "192.0.2.7"}), has_body=False
    )
    return stream, status
