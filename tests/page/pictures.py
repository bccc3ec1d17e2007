"""Pictures of the page: five screens, at three sizes, in both themes and with both packs, compared with those of a commit.

`PYTHONPATH=tests:docs .venv/bin/python -m page.pictures --against REV` draws the page of that commit and the one here in
the same browser with the same fonts, and tells which screens differ: in more than 0.2 % of the blocks of 8x8 pixels by more
than 6 of 255. `--keep FOLDER` keeps the pictures of both. Committed pictures would be measured with the fonts and the
browser of another machine, so none are. `--docs` draws those of `docs/pictures`.
"""

import argparse
import base64
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from client.browser import Browser, Page, chromium
from page.looks import SIZES, Looks
from page.playing import TESTS, WebServer

ROOT: Final = TESTS.parent
DOCS: Final = ROOT / "docs" / "pictures"
FIVE: Final = ("sit", "lobby", "duel", "four", "end")
THEMES: Final = ("dark", "light")
PACKS: Final = ("spanish", "french")
MOST_OFF, MOST_BLOCKS = 6, 0.002
QUALITY: Final = 80
SHOWN: Final = {
    "sit": ("phone", "light"),
    "lobby": ("desktop", "light"),
    "duel": ("desktop", "dark"),
    "four": ("phone", "dark"),
    "end": ("desktop", "dark"),
}

DIFFERENCE = """(async (one, other) => {
  const data = await Promise.all([one, other].map(async (picture) => {
    const bitmap = await createImageBitmap(await (await fetch('data:image/png;base64,' + picture)).blob())
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d', { willReadFrequently: true })
    context.drawImage(bitmap, 0, 0)
    return context.getImageData(0, 0, bitmap.width, bitmap.height)
  }))
  const [a, b] = data
  if (a.width !== b.width || a.height !== b.height) return 1
  const side = 8
  let [blocks, off] = [0, 0]
  for (let y = 0; y < a.height; y += side) {
    for (let x = 0; x < a.width; x += side) {
      const sums = [0, 0, 0]
      let n = 0
      for (let v = y; v < Math.min(y + side, a.height); v++) {
        for (let u = x; u < Math.min(x + side, a.width); u++) {
          for (const c of [0, 1, 2]) sums[c] += a.data[4 * (v * a.width + u) + c] - b.data[4 * (v * a.width + u) + c]
          n += 1
        }
      }
      blocks += 1
      if (sums.some((sum) => Math.abs(sum) / n > %(most)d)) off += 1
    }
  }
  return off / blocks
})(%(one)s, %(other)s)"""


def difference(glass: Page, one: bytes, other: bytes) -> float:
    """Return in which part of their blocks two pictures differ; `glass` is a page that measures."""
    coded = [json.dumps(base64.b64encode(each).decode()) for each in (one, other)]
    found: float = glass.wait_for(DIFFERENCE % {"most": MOST_OFF, "one": coded[0], "other": coded[1]})
    return found


def drawn(looks: Looks, screen: str, size: str) -> bytes:
    looks.page.resize(*SIZES[size], is_phone=size == "phone")
    looks.show(screen)
    return looks.page.picture()


def pictures(browser: Browser, origin: str) -> Iterator[tuple[str, bytes]]:
    """Yield all pictures of a page, by name."""
    for pack in PACKS:
        looks = Looks(browser, origin, pack)
        for theme in THEMES:
            looks.open(lang="en", theme=theme, isFour=pack == "french")
            for size in SIZES:
                for screen in FIVE:
                    yield f"{screen}-{size}-{theme}-{pack}", drawn(looks, screen, size)
        looks.page.close()


def serving(home: Path, root: Path | None = None) -> WebServer:
    """Return a server, of another tree if one is named."""
    folders = [] if root is None else [f"{root / each}" for each in ("server", "client", "protocol")]
    return WebServer(home, **({"PYTHONPATH": ":".join([f"{TESTS}", *folders])} if folders else {}))


@contextmanager
def checked_out(revision: str, folder: Path) -> Iterator[Path]:
    """Have the files of a commit in a folder."""
    git = ["git", "-C", str(ROOT), "worktree"]
    subprocess.run([*git, "add", "--quiet", "--detach", str(folder), revision], check=True)
    try:
        yield folder
    finally:
        subprocess.run([*git, "remove", "--force", str(folder)], check=True)


def compared(browser: Browser, home: Path, revision: str, keep: Path | None) -> Mapping[str, float]:
    """Return by how much each picture differs from that of a commit."""
    with checked_out(revision, home / "before") as tree, serving(home / "old", tree) as server:
        before = dict(pictures(browser, server.origin))
    with serving(home / "new") as server:
        after = dict(pictures(browser, server.origin))
    for which, kept in (("before", before), ("after", after)) if keep else ():
        (keep / which).mkdir(parents=True, exist_ok=True)
        for name, picture in kept.items():
            (keep / which / f"{name}.png").write_bytes(picture)
    glass = browser.page()
    return {name: difference(glass, before[name], after[name]) for name in after}


def draw_docs(browser: Browser, origin: str) -> None:
    """Draw the pictures that the documentation shows."""
    DOCS.mkdir(exist_ok=True)
    for screen, (size, theme) in SHOWN.items():
        looks = Looks(browser, origin, "french" if screen == "four" else "spanish")
        looks.open(lang="en", theme=theme)
        looks.page.resize(*SIZES[size], is_phone=size == "phone")
        looks.show(screen)
        shot = looks.page.ask("Page.captureScreenshot", format="webp", quality=QUALITY)["data"]
        (DOCS / f"{screen}.webp").write_bytes(base64.b64decode(shot))
        looks.page.close()


def main() -> int:
    """Compare, or draw those of the documentation."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--against", metavar="REV", default="HEAD")
    asked.add_argument("--keep", type=Path, metavar="FOLDER")
    asked.add_argument("--docs", action="store_true")
    flags = asked.parse_args()
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        chromium(Path(folder) / "browser") as running,
    ):
        if flags.docs:
            with serving(Path(folder) / "server") as server:
                draw_docs(running, server.origin)
            return 0
        found = compared(running, Path(folder), flags.against, flags.keep)
    differ = {name: share for name, share in found.items() if share > MOST_BLOCKS}
    for name, share in differ.items():
        print(f"{name}: {share:.1%} of the blocks differ")
    print(f"{len(found)} pictures, {len(differ)} differ from {flags.against}")
    return min(1, len(differ))


if __name__ == "__main__":
    sys.exit(main())
