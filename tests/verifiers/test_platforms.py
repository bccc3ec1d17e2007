"""The library in JavaScript on the platforms it runs on: the vectors in a browser, and in Node by the same code of its own."""

import json
import re
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from client.browser import needs_browser
from clients_elsewhere.programs import NODE, needs_node
from rows import each_row

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "client" / "truc_web" / "lib"
VECTORS = [
    path
    for folder in (".", "transcripts", "blind")
    for path in sorted((ROOT / "tests" / "vectors" / folder).glob("*.json"))
]
MODULES = sorted(LIBRARY.rglob("*.mjs"))

JUDGE = """(async (paths) => {
  const { outcomes } = await import('/client/truc_web/lib/index.mjs')
  const told = []
  for (const path of paths) {
    const read = async (name) => new Uint8Array(await (await fetch(new URL(name, location.origin + path))).arrayBuffer())
    for await (const { type, t, outcome } of outcomes(await (await fetch(path)).json(), read)) {
      told.push([outcome, path, type, t.tcId])
    }
  }
  return JSON.stringify(told)
})"""


class _Quiet(SimpleHTTPRequestHandler):
    """Serves files, and says nothing of it."""

    def log_message(self, *_args: object) -> None:
        pass


@contextmanager
def served() -> Iterator[str]:
    """Serve the tree on this machine; yields the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(ROOT)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def imports(path: Path) -> list[str]:
    return re.findall(r"(?:from|import\()\s*'([^']+)'", path.read_text("utf-8"))


@pytest.mark.slow
@needs_browser
def test_every_vector_is_agreed_on_in_a_browser(chrome):
    paths = [f"/{path.relative_to(ROOT).as_posix()}" for path in VECTORS]
    with served() as address, chrome.somebody() as page:
        page.visit(f"{address}/client/truc_web/lib/")  # a list of files: any page of this origin does
        told = json.loads(page.wait_for(f"{JUDGE}({json.dumps(paths)})"))
    assert [each for each in told if each[0] == "disagree"] == []
    assert Counter(outcome for outcome, *_ in told)["agree"] > 1700


@needs_node
def test_what_a_browser_lacks_computes_what_node_does():
    done = subprocess.run(
        [str(NODE), str(Path(__file__).with_name("own_cryptography.mjs"))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@each_row("path", MODULES)
def test_module_imports_its_neighbours_only_and_the_platform_of_node_alone_imports_node(path):
    outside = [each for each in imports(path) if not each.startswith(".")]
    assert path.name == "platform_node.mjs" or outside == []
    assert all(each.startswith("node:") for each in outside)
    inside = [(path.parent / each).resolve() for each in imports(path) if each.startswith(".")]
    assert [each for each in inside if each not in MODULES] == []
