"""The tree of files that a browser is given, its name, and the headers of its page: the same for every server.

The files are read once; nothing is read for a request. The name of a tree is made from all of it, so an address below
`/a/NAME/` means the same bytes for ever. Invariant: what the policy of the page lets run is in the tree, or stands in the
page and is named by its hash.
"""

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from hashlib import sha256
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final, NamedTuple

PAGE: Final = "page/page.html"
KINDS: Final[Mapping[str, str]] = {
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}
"""What is served, by the end of the name; anything else in the package is not for browsers."""
_NAME_DIGITS: Final = 16  # of the hash: 64 bits


class Tree(NamedTuple):
    """What a browser is given: the name of the tree, and its files by their paths."""

    name: str
    files: Mapping[str, bytes]

    @property
    def import_map(self) -> str:
        """The hash of every module, so that a browser runs no other bytes under its address."""
        modules = {
            f"/a/{self.name}/{path}": f"sha256-{_digest(content)}"
            for path, content in self.files.items()
            if path.endswith(".mjs")
        }
        return json.dumps({"integrity": modules}, separators=(",", ":"))

    def page(self, values: Mapping[str, str]) -> bytes:
        """Return the page; each `@NAME@` in it stands for a value."""
        text = self.files[PAGE].decode()
        for name, value in {**values, "TREE": self.name}.items():
            text = text.replace(f"@{name}@", escape(value))
        return text.replace("@IMPORTS@", self.import_map).encode()

    def headers(self, origin: str) -> tuple[tuple[str, str], ...]:
        """Return the headers of every page of a server with this origin."""
        socket = "ws" + origin.removeprefix("http")
        policy = (
            "default-src 'none'",
            f"script-src 'self' 'sha256-{_digest(self.import_map.encode())}'",
            "style-src 'self'",
            "img-src 'self'",
            f"connect-src 'self' {socket}",
            "worker-src 'self'",
            "manifest-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types worker",
        )
        off = (*(f"{name}=()" for name in _OFF), "screen-wake-lock=(self)")
        return (
            ("Content-Security-Policy", "; ".join(policy)),
            ("Permissions-Policy", ", ".join(off)),
            ("Cross-Origin-Opener-Policy", "same-origin"),
        )


_OFF: Final = (
    "accelerometer",
    "autoplay",
    "camera",
    "display-capture",
    "encrypted-media",
    "fullscreen",
    "geolocation",
    "gyroscope",
    "hid",
    "magnetometer",
    "microphone",
    "midi",
    "payment",
    "picture-in-picture",
    "publickey-credentials-get",
    "serial",
    "usb",
    "xr-spatial-tracking",
)


def read_tree() -> Tree:
    """Read the tree of the installed package; blocks."""
    return tree_of(dict(sorted(_walk(files("truc_web"), ""))))


def tree_of(found: Mapping[str, bytes]) -> Tree:
    """Return a tree of files by their paths."""
    whole = sha256()
    for path, content in sorted(found.items()):
        whole.update(f"{path}\0{_digest(content)}\n".encode())
    return Tree(whole.hexdigest()[:_NAME_DIGITS], found)


def kind_of(path: str) -> str | None:
    """Return the media type of a file, or None if it is not for browsers."""
    return KINDS.get(path[path.rfind(".") :] if "." in path else "")


def _walk(folder: Traversable, before: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        path = f"{before}{entry.name}"
        if entry.is_dir():
            yield from _walk(entry, f"{path}/")
        elif kind_of(path) is not None:
            yield path, entry.read_bytes()


def _digest(content: bytes) -> str:
    return b64encode(sha256(content).digest()).decode()
