"""Whether everybody can use the page: names, roles, sizes, what is cut off, contrast, the focus, zoom, motion.

`PYTHONPATH=tests:docs .venv/bin/python -m page.access` looks at every screen in every language, at six sizes and in both
themes, and prints what is wrong; the exit status is 1 then. The suite looks at a part of it.
"""

import argparse
import base64
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Final

from client.browser import Browser
from page.looks import SCREENS, SIZES, Looks
from page.playing import browsing

from truc_words import LANGUAGES

WIDE: Final = {**SIZES, "lying phone": (844, 390), "small phone": (360, 640), "200 %": (640, 400)}
TOUCHED: Final = ("phone", "lying phone", "small phone")
FINGER, MOUSE = 44, 32
CONTROLS: Final = {
    *(
        *("button", "link", "textbox", "combobox", "checkbox", "slider", "tab", "DisclosureTriangle"),
        *("switch", "searchbox"),
    )
}
NAMED: Final = CONTROLS | {"dialog", "alertdialog", "tablist", "image", "img"}
PARENTS: Final = {
    "listitem": {"list"},
    "tab": {"tablist"},
    "row": {"rowgroup", "table"},
    "term": {"DescriptionList", "descriptionList"},
}
LEAST, LEAST_BIG = 4.5, 3.0
WISHES: Final = {"prefers_contrast": "more", "forced_colors": "active"}
"""What readers may ask of their devices, beside no motion, which all other looks ask for."""

CONTRAST = """(async (picture, texts) => {
  const bitmap = await createImageBitmap(await (await fetch('data:image/png;base64,' + picture)).blob())
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height)
  const context = canvas.getContext('2d', { willReadFrequently: true })
  context.drawImage(bitmap, 0, 0)
  const light = (rgb) => rgb.map((c) => c / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0)
  const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
  return texts.flatMap(({ what, color, isBig, box: [x, y, width, height] }) => {
    const { data } = context.getImageData(Math.floor(x), Math.floor(y), Math.max(1, Math.ceil(width)), Math.max(1, Math.ceil(height)))
    const seen = new Map()
    for (let i = 0; i < data.length; i += 4) {
      const key = (data[i] >> 3) << 10 | (data[i + 1] >> 3) << 5 | data[i + 2] >> 3
      const [n, rgb] = seen.get(key) ?? [0, [data[i], data[i + 1], data[i + 2]]]
      seen.set(key, [n + 1, rgb])
    }
    const behind = light([...seen.values()].sort((a, b) => b[0] - a[0])[0][1])
    const ink = (color.match(/[\\d.]+/g) ?? []).slice(0, 3).map(Number).map((c) => color.startsWith('color(') ? c * 255 : c)
    const found = ratio(light(ink), behind)
    return found < (isBig ? %(big)s : %(least)s) - 0.05 ? [`contrast ${found.toFixed(2)}: ${what}`] : []
  })
})(%(picture)s, %(texts)s)"""


def above(node: Any, nodes: Mapping[str, Any]) -> Iterator[Any]:
    """Yield what a node of the tree is within, the nearest first."""
    while (node := nodes.get(node.get("parentId", ""))) is not None:
        if not node["ignored"] and node["role"]["value"] not in ("generic", "none"):
            yield node


def roles(tree: Sequence[Any]) -> Iterator[str]:
    """Tell what the accessibility tree has without a name, or within the wrong thing."""
    nodes = {node["nodeId"]: node for node in tree}
    for node in tree:
        if node["ignored"]:
            continue
        role, name = node["role"]["value"], node.get("name", {}).get("value", "")
        around = [each["role"]["value"] for each in above(node, nodes)]
        if role in NAMED and not name.strip():
            yield f"{role} without a name"
        if role in PARENTS and around[:1] and around[0] not in PARENTS[role]:
            yield f"{role} {name!r} in {around[0]}"
        if role in CONTROLS and not (CONTROLS - {"combobox"}).isdisjoint(around):
            yield f"{role} {name!r} within a control"


class Access:
    """Somebody who looks for what is wrong; `glass` is an empty page that measures pictures."""

    def __init__(self, browser: Browser, origin: str, pack: str = "spanish") -> None:
        self.looks = Looks(browser, origin, pack)
        self.page, self.glass = self.looks.page, browser.page()

    def contrast(self) -> list[str]:
        picture = base64.b64encode(self.page.picture()).decode()
        texts = json.dumps(self.page.look("colours()"))
        given = {"picture": json.dumps(picture), "texts": texts, "big": LEAST_BIG, "least": LEAST}
        found: list[str] = self.glass.wait_for(CONTRAST % given)
        return found

    def fitting(self, size: str) -> list[str]:
        """Tell what does not fit at a size, or could not be met there."""
        width, height = WIDE[size]
        is_touched = size in TOUCHED
        self.page.ask("Emulation.setTouchEmulationEnabled", enabled=is_touched)
        self.page.resize(width, height, is_phone=is_touched)
        self.page.wait_for("drawn()")
        least = FINGER if is_touched else MOUSE
        found: list[str] = self.page.look(
            f"[...cutOff(), ...tooWide(), ...overlaps(), ...bubbles(), ...tooSmall({least})]"
        )
        return [f"{size}: {each}" for each in found]

    def told(self) -> list[str]:
        """Tell what is wrong with a screen whatever its size is."""
        tree = self.page.ask("Accessibility.getFullAXTree")["nodes"]
        self.page.press("Shift")
        return [*self.page.look("[...headings(), ...unshown(), ...moving(), ...unmarked()]"), *roles(tree)]

    def look_at(self, screen: str, sizes: Sequence[str], *, is_measured: bool) -> list[str]:
        self.looks.show(screen)
        found = [*self.told(), *(each for size in sizes for each in self.fitting(size))]
        found += self.contrast() if is_measured else []
        return [f"{screen}: {each}" for each in found]

    def everywhere(self) -> list[str]:
        """Look at every screen, at all sizes."""
        return [each for screen in SCREENS for each in self.look_at(screen, [*WIDE], is_measured=True)]


def main() -> int:
    """Look at all there is, in some of the languages or in every one."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("languages", nargs="*", help="every one, if none is named")
    languages = asked.parse_args().languages or LANGUAGES
    found = []
    with browsing() as (browser, server, _):
        for pack in ("spanish", "french"):
            access = Access(browser, server.origin, pack)
            for lang, theme in product(languages, ("dark", "light")):
                access.looks.open(lang=lang, theme=theme)
                found += [f"{pack}, {lang}, {theme}: {each}" for each in access.everywhere()]
            access.looks.open(lang=languages[0])
            for name, wish in WISHES.items():
                access.page.prefer(**{name: wish})
                found += [f"{pack}, {name}: {each}" for each in access.everywhere()]
    print("\n".join(found) or "nothing is wrong")
    return min(1, len(found))


if __name__ == "__main__":
    sys.exit(main())
