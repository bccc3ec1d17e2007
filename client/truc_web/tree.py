"""The tree of files that a browser is given, its name, and the headers of its page: the same for every server.

The files are read once; nothing is read for a request. The name of a tree is made from all of it, so an address below
`/a/NAME/` means the same bytes for ever. Invariant: what the policy of the page lets run is in the tree, or stands in the
page and is named by its hash.

The words of the page are files too: for each language all, and those on the way to a seat; and the games' own. They are those
of truc_words; a page is given the parts that it shows, so that its first load stays small.
"""

import json
import posixpath
import re
import tomllib
from base64 import b64encode
from collections import deque
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple

import msgspec

from truc_words.catalogue import LANGUAGES, local_sets, read_files, read_text

PAGE: Final = "page/page.html"
_FOLDERS: Final = ("lib", "page")
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
_PRELOADED: Final = re.compile(r'<link rel="modulepreload" href="/a/@TREE@/([^"]+)"([^>]*)>')
_STYLESHEETS: Final = {
    "page/look.css": ("base", "seat", "wishes"),
    "page/screens.css": ("table", "rooms", "wishes"),
}
"""The stylesheets as they are sent, and what is in each, in order: what the way to a seat looks like, before which nothing
is painted; and the other screens, none of which is drawn without it. Readers' wishes come last in both, so that they hold."""
EARLY_SUBMIT: Final = (
    "addEventListener('submit',(event)=>"
    "{event.preventDefault();document.documentElement.dataset.pressed='yes'})"
)
"""Keeps in mind that somebody was quicker than the modules."""
_SHELL: Final = (
    '<main class="page"><section class="card sit"><div class="hero" aria-hidden="true"></div><h1>{connecting}</h1>'
    '<p>&nbsp;</p><form><input name="name" class="name" maxlength="24" autocomplete="nickname" required=""'
    ' aria-label="{nickname}" placeholder="{nickname}" autofocus><button class="b yes"><b>{sit_down}</b></button>'
    '<p class="dim"><small>{no_account}</small></p></form></section></main>'
)
"""The way to a seat as `page/view/sit.mjs` draws it while the table is not known: painted before any module is there."""
_SHELL_WORDS: Final = ("connecting", "nickname", "sit_down", "no_account")
_COMMENTS: Final = re.compile(rb"^[ \t]*(?://[^\n]*|/\*\*(?:(?!\*/)[\s\S])*\*/[ \t]*)$", re.MULTILINE)
_CSS_COMMENTS: Final = re.compile(rb"/\*[\s\S]*?\*/\n?")
_IMPORTED: Final = re.compile(
    r"""^(?:import|export)\b(?:[^'";()]*?\bfrom)?\s*['"](\.{1,2}/[^'"]+)['"]""", re.MULTILINE
)


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

    def page(self, values: Mapping[str, str], lang: str = "en", *, is_link: bool = False) -> bytes:
        """Return the page in a language, or that of a link to a table; each `@NAME@` in it stands for a value."""
        text = self.files[PAGE].decode()
        # a module that two entries need is named once, at the first
        known = set[str]()
        text = _PRELOADED.sub(lambda link: self._preloads(link[1], link[2], known), text)
        for name, value in {**values, "TREE": self.name, "LANG": lang}.items():
            text = text.replace(f"@{name}@", escape(value))
        shell = self._shell(lang) if is_link else ""
        for name, html in {"IMPORTS": self.import_map, "EARLY": EARLY_SUBMIT, "SHELL": shell}.items():
            text = text.replace(f"@{name}@", html)
        return text.encode()

    def _shell(self, lang: str) -> str:
        words = json.loads(self.files[f"words/{lang}-seat.json"])["page"]
        return _SHELL.format_map({name: escape(words[name]) for name in _SHELL_WORDS})

    def _preloads(self, entry: str, how: str, known: set[str]) -> str:
        """Return links by which a browser fetches a module, and all it needs, at once, instead of finding one in another.

        Those that are known are left out, and then known.
        """
        # over HTTP/1.1 each six files cost a round trip: without
        # the links a module is found only in another (decision 23)
        waiting, found = deque([entry]), list[str]()
        while waiting:
            path = waiting.popleft()
            if path in known or path not in self.files:
                continue
            known.add(path)
            found.append(path)
            folder = PurePosixPath(path).parent
            waiting += [posixpath.normpath(folder / other) for other in _imported(self.files[path])]
        return "\n".join(
            f'<link rel="modulepreload" href="/a/{self.name}/{path}" integrity="sha256-{_digest(self.files[path])}"{how}>'
            for path in found
        )

    def headers(self, origin: str) -> tuple[tuple[str, str], ...]:
        """Return the headers of every page of a server with this origin."""
        policy = (
            "default-src 'none'",
            "script-src 'self'"
            f" 'sha256-{_digest(self.import_map.encode())}' 'sha256-{_digest(EARLY_SUBMIT.encode())}'",
            "style-src 'self'",
            "img-src 'self'",
            f"connect-src 'self' {_socket(origin)}",
            "worker-src 'self'",
            "manifest-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            # names and talk come from strangers: nothing is ever parsed
            # as markup, and the one address made is the worker's
            "require-trusted-types-for 'script'",
            "trusted-types worker",
        )
        # the page uses none of them but the wake lock, which keeps the screen on during a player's turn
        off = (*(f"{name}=()" for name in _FORBIDDEN_FEATURES), "screen-wake-lock=(self)")
        return (
            ("Content-Security-Policy", "; ".join(policy)),
            ("Permissions-Policy", ", ".join(off)),
            ("Cross-Origin-Opener-Policy", "same-origin"),
        )


def file_headers(origin: str) -> tuple[tuple[str, str], ...]:
    """Return the headers of every file: a worker obeys those that it came with, and not those of its page."""
    connects = f"connect-src 'self' {_socket(origin)}"
    policy = f"default-src 'none'; script-src 'self'; {connects}; require-trusted-types-for 'script'"
    return (("Content-Security-Policy", policy),)


def _socket(origin: str) -> str:
    return "ws" + origin.removeprefix("http")


_FORBIDDEN_FEATURES: Final = (
    "accelerometer",
    "autoplay",
    "browsing-topics",
    "camera",
    "clipboard-read",
    "compute-pressure",
    "display-capture",
    "encrypted-media",
    "fullscreen",
    "gamepad",
    "geolocation",
    "gyroscope",
    "hid",
    "idle-detection",
    "local-fonts",
    "magnetometer",
    "microphone",
    "midi",
    "otp-credentials",
    "payment",
    "picture-in-picture",
    "publickey-credentials-create",
    "publickey-credentials-get",
    "serial",
    "storage-access",
    "sync-xhr",
    "usb",
    "window-management",
    "xr-spatial-tracking",
)


@cache
def read_tree() -> Tree:
    """Read the tree of the installed package, once; blocks."""
    package = files("truc_web")
    found = (pair for folder in _FOLDERS for pair in _walk(package / folder, f"{folder}/"))
    return tree_of(_with_joined_stylesheets(dict(sorted((*found, *word_files())))))


def _with_joined_stylesheets(found: dict[str, bytes]) -> dict[str, bytes]:
    sheets = {path: found.pop(path) for path in list(found) if path.endswith(".css")}
    for path, names in _STYLESHEETS.items():
        whole = b"".join(sheets[f"page/look/{name}.css"] for name in names)
        found[path] = _CSS_COMMENTS.sub(b"", whole)
    return found


def tree_of(found: Mapping[str, bytes]) -> Tree:
    """Return a tree of files by their paths."""
    whole = sha256()
    # paths are hashed with the contents: a file that only moves makes another tree
    for path, content in sorted(found.items()):
        whole.update(f"{path}\0{_digest(content)}\n".encode())
    return Tree(whole.hexdigest()[:_NAME_DIGITS], found)


def without_comments(module: bytes) -> bytes:
    """Return a module without the comments that stand on lines of their own; no text in it may begin a line like one."""
    # lines keep their numbers, by which a browser names an error
    return _COMMENTS.sub(lambda found: b"\n" * found[0].count(b"\n"), module)


def kind_of(path: str) -> str | None:
    """Return the media type of a file, or None if it is not for browsers."""
    return KINDS.get(path[path.rfind(".") :] if "." in path else "")


def _walk(folder: Traversable, before: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        path = f"{before}{entry.name}"
        if entry.is_dir():
            yield from _walk(entry, f"{path}/")
        elif kind_of(path) is not None:
            # only modules: comments are half of what they weigh,
            # and a first visit has a bound (hosting/web.md)
            content = entry.read_bytes()
            yield path, without_comments(content) if path.endswith(".mjs") else content


@cache  # every page of every language names the same modules
def _imported(module: bytes) -> tuple[str, ...]:
    return tuple(_IMPORTED.findall(module.decode()))


@cache
def _digest(content: bytes) -> str:
    return b64encode(sha256(content).digest()).decode()


SHOWN_PARTS: Final = (
    *("singular", "moves", "facts", "ranks", "letters", "signs", "gestures", "phrases", "reasons", "terms"),
    *("counts", "said", "closed", "lessons", "refused", "wrong", "screen"),
)
"""The parts of a catalogue that a page shows."""
SHOWN_IN_PART: Final = {
    "screen": (
        *("away", "best_of", "closed", "guests_admitted", "no_hurry", "overtaken", "pace", "pace_with_bank"),
        *("score", "taken_over", "tied", "to_target", "tricks", "wants_another"),
    ),
    "lessons": ("asked", "envido", "goal", "hand", "match", "scored-declined", "tied"),
}
"""Parts of which most is for terminals, with what a page shows of them."""

SEAT_WORDS: Final = {
    "page": (
        *(
            "connecting",
            "failed",
            "flor_off",
            "flor_on",
            "for_players",
            "free_table",
            "just_watch",
            "lobby",
        ),
        *(
            "may_be_watched",
            "moved",
            "moved_more",
            "name_refused",
            "never_played",
            "nickname",
            "no_account",
            "no_room_more",
        ),
        *(
            "nobody_chooses",
            "nobody_chooses_how",
            "not_proved_more",
            "play_here",
            "second_tab",
            "second_tab_more",
            "sit_down",
        ),
        *(
            "sure",
            "table_full",
            "table_gone",
            "table_gone_more",
            "try_again",
            "wait_for_you",
            "waits_for_you",
        ),
    ),
    "screen": ("guests_admitted", "no_hurry", "overtaken", "pace", "pace_with_bank", "to_target"),
    "said": ("and",),
    "key": ("title",),
}
"""What is said until somebody sits, and where nobody can; beside it everything that is refused. It comes first."""

_NOT_SHOWN: Final = ("like", "leaders", "names")
"""What a page does not need of a game's own words."""


def word_files() -> Iterator[tuple[str, bytes]]:
    """Yield the files of words with their paths in the tree; blocks."""
    games = tomllib.loads(read_text("page/games.toml"))
    for lang in LANGUAGES:
        game, around = read_files(lang)
        said = game | around
        page = tomllib.loads(read_text(f"page/{lang}.toml"))
        shown = {part: said[part] for part in SHOWN_PARTS}
        shown |= {part: {name: said[part][name] for name in names} for part, names in SHOWN_IN_PART.items()}
        whole = {"lang": lang} | shown | page
        yield f"words/{lang}.json", _json(whole)
        way = {part: {name: whole[part][name] for name in names} for part, names in SEAT_WORDS.items()}
        whole_parts = {part: whole[part] for part in ("lang", "singular", "refused", "errors")}
        yield f"words/{lang}-seat.json", _json(whole_parts | way | {"games": games})
    yield "words/own.json", _json({"sets": dict(_own_words()), "games": games})


def _own_words() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each game's own words, with those of the game it is like; what it says nothing of is left out."""
    for name, words in msgspec.to_builtins(local_sets()).items():
        yield name, {part: said for part, said in words.items() if said and part not in _NOT_SHOWN}


def _json(words: dict[str, Any]) -> bytes:
    return json.dumps(words, ensure_ascii=False, separators=(",", ":")).encode()
