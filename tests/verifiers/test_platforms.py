"""The library in JavaScript on the platforms it runs on: vectors in browsers, and in Node what browsers have of their own.

Every vector is checked in Node. A browser differs in what `platform_web.mjs` does, so it gets all vectors of that, and some
of every other kind; with TRUC_EXAMPLES all.
"""

import json
import os
import re
import resource
import subprocess
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from client.browser import ReadPage, needs_browser
from clients_elsewhere.programs import NODE, needs_node
from rows import each_row

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "client" / "truc_web" / "lib"
VECTORS = [
    path
    for folder in (".", "transcripts", "blind")
    for path in sorted((ROOT / "tests" / "vectors" / folder).glob("*.json"))
]
OF_THE_PLATFORM = ("encoding", "keys", "web")
FEW = 3
"""So many vectors of every other kind."""
MODULES = sorted(LIBRARY.rglob("*.mjs"))

JUDGE = """(async (files) => {
  const { outcomes } = await import('/client/truc_web/lib/index.mjs')
  const told = []
  for (const [path, vectors] of files) {
    const read = async (name) => new Uint8Array(await (await fetch(new URL(name, location.origin + path))).arrayBuffer())
    for await (const { type, t, outcome } of outcomes(vectors, read)) told.push([outcome, path, type, t.tcId])
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


def chosen(path: Path) -> dict[str, Any]:
    """Return a file of vectors with those that a browser gets."""
    vectors: dict[str, Any] = json.loads(path.read_text())
    if "TRUC_EXAMPLES" not in os.environ and path.stem not in OF_THE_PLATFORM:
        left: dict[tuple[str, str], int] = defaultdict(lambda: FEW)
        for group in vectors["testGroups"]:
            tests, group["tests"] = group["tests"], []
            for test in tests:
                kind = group["type"], test["result"]
                group["tests"] += [test] if left[kind] > 0 else []
                left[kind] -= 1
    return {"testGroups": [group for group in vectors["testGroups"] if group["tests"]]}


def check_vectors(page: ReadPage) -> None:
    """Assert that a browser agrees on all that it gets; what the library leaves out, it leaves out in Node too."""
    files = [(f"/{path.relative_to(ROOT).as_posix()}", chosen(path)) for path in VECTORS]
    with served() as address:
        page.visit(f"{address}/client/truc_web/lib/")  # a list of files: any page of this origin does
        told = json.loads(page.wait_for(f"{JUDGE}({json.dumps(files)})"))
    assert [each for each in told if each[0] not in ("agree", "left out wire")] == []
    assert len(told) == sum(len(group["tests"]) for _, vectors in files for group in vectors["testGroups"])


def imports(path: Path) -> list[str]:
    return re.findall(r"(?:from|import\()\s*'([^']+)'", path.read_text("utf-8"))


@pytest.mark.slow
@needs_browser
def test_vectors_are_agreed_on_in_a_browser(chrome):
    with chrome.somebody() as page:
        check_vectors(page)


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


STORE = """
const { default: fs } = await import('node:fs')
const { syncBuiltinESMExports } = await import('node:module')
const { closeSync, openSync } = fs
const files = new Set()     // that are open
fs.openSync = (...given) => {
  const file = openSync(...given)
  files.add(file)
  return file
}
fs.closeSync = (file) => {
  files.delete(file)
  closeSync(file)
}
syncBuiltinESMExports()
const { openStore } = await import(process.argv[1])
const store = openStore(process.argv[2])
store.kept.tables.th = 'x'.repeat(Number(process.argv[3]))
await store.save().then(() => console.log('saved'), () => console.log('failed'))
if (files.size > 0) console.log('a file is open')
"""


@needs_node
def test_store_for_which_a_disk_has_no_room_stays_as_it_was_and_leaves_no_file_open(tmp_path) -> None:
    # a file that may not grow further is written in part, as on a full disk
    room = 4096

    def save(length: int) -> str:
        command = [NODE, "--input-type=module", "-e", STORE, str(LIBRARY / "platform_node.mjs"), str(path)]
        limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (room, room))
        return subprocess.run(
            [*command, str(length)], capture_output=True, text=True, check=True, preexec_fn=limit
        ).stdout

    path = tmp_path / "store.json"
    assert save(10) == "saved\n"
    before = path.read_bytes()
    assert (save(2 * room), path.read_bytes()) == ("failed\n", before)
