"""What is answered over HTTP from memory: the page, the files of its tree, and the plain answers that refuse.

Everything is read and packed once, at the start. Invariant: nothing is read from the disk for a request, so no path can
leave the tree.
"""

import gzip
import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from http import HTTPStatus
from typing import Final, NamedTuple

from truc_web.tree import PAGE, Tree, file_headers, kind_of
from truc_words.catalogue import LANGUAGES

_PAGES: Final = re.compile(r"/(play|history|best|settings|learn|[twm]/[A-Za-z0-9_-]{1,64})?")
_YEAR_S: Final = 31_536_000
_TEXT: Final = "text/plain; charset=utf-8"
_HTML: Final = "text/html; charset=utf-8"
_BY_LANGUAGE: Final = "Accept-Encoding, Accept-Language"
_LEAST_PACKED: Final = 256  # bytes: what is shorter gains nothing

Header = tuple[str, str]
Headers = Iterable[tuple[bytes, bytes]]
COMMON: Final[tuple[Header, ...]] = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)


CLOSE: Final[Header] = ("Connection", "close")


class PageAnswer(NamedTuple):
    """What a request is answered with; `why` names the refusal for the metrics."""

    status: HTTPStatus
    body: bytes
    headers: tuple[Header, ...] = ()
    why: str | None = None


class _Stored(NamedTuple):
    """One file, as it is and packed."""

    plain: bytes
    packed: bytes | None
    etag: str
    headers: tuple[Header, ...]


class Pages:
    """The page and the files of one server."""

    def __init__(self, tree: Tree, origin: str, values: Mapping[str, str]) -> None:
        self._pages = {
            (lang, is_link): _stored(
                tree.page(values, lang, is_link=is_link),
                _HTML,
                # the page names the files of its release: its own
                # address outlives that, and is asked for again
                "no-cache",
                tree.headers(origin),
                _BY_LANGUAGE,
            )
            for lang in LANGUAGES
            for is_link in (False, True)
        }
        of_files = file_headers(origin)
        cache = f"public, max-age={_YEAR_S}, immutable"
        self._files = {
            f"/a/{tree.name}/{path}": _stored(content, kind_of(path) or _TEXT, cache, of_files)
            for path, content in tree.files.items()
            if path != PAGE  # it is served as the page alone, with what stands in it for values
        }

    def find(self, path: str, headers: Headers) -> PageAnswer:
        """Return the answer to a request for a path, by the headers of the request."""
        # only the way to a seat is painted before any module is there (decision 23)
        is_link = path.startswith("/t/")
        stored = self._pages[language_of(headers), is_link] if is_page(path) else self._files.get(path)
        if stored is None:
            return refused(HTTPStatus.NOT_FOUND, "there is nothing at this address")
        packs = any("gzip" in value for value in values_of(headers, b"accept-encoding"))
        return _answer(stored, packs=packs, known=",".join(values_of(headers, b"if-none-match")))


def values_of(headers: Headers, name: bytes) -> list[str]:
    """Return every value of a header, given in small letters."""
    return [value.decode("latin-1") for key, value in headers if key == name]


def language_of(headers: Headers) -> str:
    """Return the first language that a browser asks for, of those that there are."""
    wanted = (
        each.strip()[:2].lower()
        for value in values_of(headers, b"accept-language")
        for each in value.split(",")
    )
    return next((lang for lang in wanted if lang in LANGUAGES), LANGUAGES[0])


def is_page(path: str) -> bool:
    """Tell whether a path is one of the page's."""
    return _PAGES.fullmatch(path) is not None


def text(body: str, *headers: Header, status: HTTPStatus = HTTPStatus.OK) -> PageAnswer:
    """Return an answer in plain words, which nobody keeps."""
    return PageAnswer(
        status, f"{body}\n".encode(), (("Content-Type", _TEXT), ("Cache-Control", "no-store"), *headers)
    )


def data(body: bytes, cache: str = "no-store") -> PageAnswer:
    """Return an answer for programs."""
    return PageAnswer(HTTPStatus.OK, body, (("Content-Type", "application/json"), ("Cache-Control", cache)))


def refused(status: HTTPStatus, words: str, *headers: Header, why: str | None = None) -> PageAnswer:
    """Return an answer that says why there is no other."""
    return text(words, *headers, status=status)._replace(why=why)


def _stored(
    content: bytes, kind: str, cache: str, headers: tuple[Header, ...], vary: str = "Accept-Encoding"
) -> _Stored:
    # without the time equal files pack to equal bytes
    packed = gzip.compress(content, mtime=0) if len(content) >= _LEAST_PACKED else content
    etag = f'"{sha256(content).hexdigest()[:32]}"'
    own = (("Content-Type", kind), ("Cache-Control", cache), ("ETag", etag), ("Vary", vary))
    return _Stored(content, packed if len(packed) < len(content) else None, etag, own + headers)


def _answer(stored: _Stored, *, packs: bool, known: str) -> PageAnswer:
    if known.strip() == "*" or stored.etag in (each.strip().removeprefix("W/") for each in known.split(",")):
        return PageAnswer(HTTPStatus.NOT_MODIFIED, b"", stored.headers)
    if packs and stored.packed is not None:
        return PageAnswer(HTTPStatus.OK, stored.packed, (*stored.headers, ("Content-Encoding", "gzip")))
    return PageAnswer(HTTPStatus.OK, stored.plain, stored.headers)
