"""Where settings come from: one TOML file, the environment, flags; and the file that shows and explains them all.

Later sources win. Each setting is a key with a dotted name, an environment variable, and in words what it takes, made from
the fields of `Settings`, so that a setting is written once. Invariants: every field is a key; anything wrong is a
`SettingsError` that names the key and the place where it was set: the line of the file, the variable or the flag.
"""

import difflib
import json
import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args, get_origin

import msgspec
from msgspec import Meta

from truc_server.settings.settings import Settings, SettingsError, Takes

PREFIX: Final = "TRUC_"


class SettingKey(NamedTuple):
    """One setting: its dotted name, its type with range and description, and its default."""

    name: str
    type: Any
    default: object

    @property
    def variable(self) -> str:
        """The name of the environment variable that sets it."""
        return PREFIX + self.name.upper().replace(".", "_")

    @property
    def description(self) -> str:
        """The line that explains it to the host."""
        return next((meta.description for meta in _metas(self.type) if meta.description), "")

    @property
    def takes(self) -> Takes:
        """What it takes beyond what type and range tell."""
        return next((takes for takes in get_args(self.type) if isinstance(takes, Takes)), Takes())


def expected(key: SettingKey) -> str:
    """Say which values a setting takes."""
    kind = plain_type(key.type)
    if key.takes.words:
        return key.takes.words
    if kind is bool:
        return "true or false"
    if kind is int:
        return f"a whole number from {_bound(key, 'ge')} to {_bound(key, 'le')}"
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(map(json.dumps, get_args(kind)))
    least = _bound(key, "min_length")
    return f"text of {'at most' if least is None else f'{least} to'} {key.takes.max_bytes} bytes"


def choices_of(name: str) -> tuple[str, ...]:
    """Return the words that a setting chooses from; none if it takes anything else."""
    kind = plain_type(KEYS[name].type)
    return get_args(kind) if get_origin(kind) is Literal else ()


def plain_type(annotated: object) -> object:
    """Return a setting's type without range and description."""
    return get_args(annotated)[0] if get_origin(annotated) is Annotated else annotated


def _metas(annotated: object) -> tuple[Meta, ...]:
    return tuple(meta for meta in get_args(annotated)[1:] if isinstance(meta, Meta))


def _bound(key: SettingKey, name: str) -> int | None:
    return next((bound for meta in _metas(key.type) if (bound := getattr(meta, name)) is not None), None)


def _keys(struct: type[msgspec.Struct], prefix: str = "") -> Iterator[SettingKey]:
    for field in msgspec.structs.fields(struct):
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            yield from _keys(field.type, f"{prefix}{field.name}.")
        else:
            yield SettingKey(prefix + field.name, field.type, field.default)


KEYS: Final[Mapping[str, SettingKey]] = {key.name: key for key in _keys(Settings)}
SECTIONS: Final = frozenset(name.rpartition(".")[0] for name in KEYS) - {""}


MAX_FILE: Final = 32_768
FILE_VARIABLE: Final = "TRUC_SETTINGS"
# A variable this similar to one of ours is a typo; others with our prefix belong to other programs.
_LIKENESS: Final = 0.75
_MAX_SHOWN: Final = 80  # characters of a value in an error
_MAX_QUOTED: Final = 300  # characters of a file in an error


class _Found(NamedTuple):
    """A value on its way into the settings; `is_text` if its source can hold only text.

    `where` is called only if something is wrong: finding the line in a file is slow.
    """

    value: object
    where: Callable[[], str]
    is_text: bool


def load(
    *,
    file: tuple[str, str] | None,
    environ: Mapping[str, str],
    flags: Mapping[str, tuple[str, object]],
    needs: Collection[str] = KEYS,
) -> Settings:
    """Build the settings from a file (name and text), the environment and flags (key -> flag and value).

    A setting that is not needed has its default, and may be wrong in the file and the environment.

    Raises:
        SettingsError: A value is out of range or of a wrong type, or a key is unknown.
    """
    found: dict[str, _Found] = {}
    if file is not None:
        found |= _from_file(*file, needs)
    found |= _from_environment(environ, needs)
    found |= {key: _Found(value, partial(str, flag), is_text=False) for key, (flag, value) in flags.items()}
    values: dict[str, Any] = {}
    for key in KEYS.values():
        if key.name in needs and key.name in found:
            section, _, field = key.name.rpartition(".")
            into = values.setdefault(section, {}) if section else values
            into[field] = _value(key, found[key.name])
    # Each value has been looked at by now, with the place where it was set, which this could not name.
    return msgspec.convert(values, Settings)


def line_of(text: str, path: tuple[str, ...]) -> int:
    """Return the line on which a key of a TOML text is set, the first being 1.

    It follows the longest beginning of the text that is TOML without the key, whatever form the key takes.
    """
    lines = text.split("\n")
    start = 1
    for n in range(1, len(lines) + 1):
        try:
            parsed = tomllib.loads("\n".join(lines[:n]) + "\n")
        except ValueError:
            continue
        if _holds(parsed, path):
            break
        start = n + 1
    return start


def _from_file(name: str, text: str, needs: Collection[str]) -> dict[str, _Found]:
    if len(text.encode()) > MAX_FILE:
        raise SettingsError(f"{name}: expected at most {MAX_FILE} bytes, got {len(text.encode())}")
    try:
        parsed = tomllib.loads(text)
    except ValueError as error:  # no TOML, or a number that Python does not read
        raise SettingsError(_syntax_error(name, text, str(error))) from error
    except RecursionError as error:
        raise SettingsError(_syntax_error(name, text, "too many lists in each other")) from error
    found: dict[str, _Found] = {}
    for path, value in _leaves(parsed):
        key = ".".join(path)
        where = partial(_line, name, text, path)
        # An unknown key counts as the one it was probably meant to be: a misspelled limit must not keep a
        # host from a backup, but what may lead to another folder or database is refused.
        nearest = key if key in KEYS else _nearest(key)
        if not _is_part(nearest, needs):
            continue
        if key in SECTIONS:
            raise SettingsError(f"{where()}: {key} expected a section [{key}], got {_shown(value)}")
        if key not in KEYS:
            raise SettingsError(f"{where()}: unknown key {_printable(key)}; the nearest is {nearest}")
        found[key] = _Found(value, where, is_text=False)
    return found


def _line(name: str, text: str, path: tuple[str, ...]) -> str:
    return f"{name} line {line_of(text, path)}"


def _is_part(name: str, needs: Collection[str]) -> bool:
    """Tell whether a key is needed, or a section has a key that is."""
    return name in needs or any(key.startswith(f"{name}.") for key in needs)


def _from_environment(environ: Mapping[str, str], needs: Collection[str]) -> dict[str, _Found]:
    variables = {key.variable: key.name for key in KEYS.values()}
    found: dict[str, _Found] = {}
    for variable, value in environ.items():
        if variable in variables:
            found[variables[variable]] = _Found(value, partial(str, variable), is_text=True)
        elif variable.startswith(PREFIX) and variable != FILE_VARIABLE:
            _check_foreign(variable, needs)
    return found


def _check_foreign(variable: str, needs: Collection[str]) -> None:
    # Other programs share the prefix; what is nearly ours, whole or without its section, is a typo.
    # If sections share a name, such as port, it stands for that of the first section.
    ours = {key.name.rpartition(".")[2].upper(): key for key in reversed(tuple(KEYS.values()))}
    ours |= {key.variable.removeprefix(PREFIX): key for key in KEYS.values()}
    like = difflib.get_close_matches(variable.removeprefix(PREFIX), ours, n=1, cutoff=_LIKENESS)
    if like and ours[like[0]].name in needs:
        raise SettingsError(
            f"{_printable(variable)}: unknown variable; the nearest is {ours[like[0]].variable}"
        )


def _value(key: SettingKey, found: _Found) -> object:
    value = found.value
    if found.is_text and get_origin(plain_type(key.type)) is tuple:
        value = [part.strip() for part in str(value).split(",") if part.strip()]
    try:
        converted: object = msgspec.convert(value, key.type, strict=not found.is_text)
        size = _size(converted)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:  # the environment may hold any bytes
        raise SettingsError(_refusal(key, found)) from error
    takes = key.takes
    if isinstance(converted, tuple):
        if wrong := [entry for entry in converted if not takes.admits(entry)]:
            raise SettingsError(f"{_refused(key, found)}, got {_shown(wrong[0])} in it")
    # `Meta` can bound characters only, and what is signed and sent has bounds in bytes; no path has a zero in it.
    elif (
        not takes.admits(converted)
        or "\0" in str(converted)
        or (plain_type(key.type) is str and size > takes.max_bytes)
    ):
        raise SettingsError(_refusal(key, found))
    return converted


def _size(value: object) -> int:
    texts = value if isinstance(value, tuple) else (value,)
    return sum(len(str(text).encode()) for text in texts)


def _refusal(key: SettingKey, found: _Found) -> str:
    return f"{_refused(key, found)}, got {_shown(_without_password(key, found.value))}"


def _refused(key: SettingKey, found: _Found) -> str:
    return f"{found.where()}: {key.name} expected {expected(key)}"


def settings_text(settings: Settings) -> str:
    """Return a settings file with every setting explained; defaults are commented out, other values are set.

    A password in store.url is left out.
    """
    lines = [
        "# Settings of truc-server. A line with a # shows a default: to change it, remove the # before it.",
        "# The environment (the name in brackets) overrides this file, flags override both.",
    ]
    present = ""
    for key in KEYS.values():
        section, _, field = key.name.rpartition(".")
        if section != present:
            lines += ["", f"[{section}]"]
            present = section
        value = _without_password(key, value_of(settings, key.name))
        mark = "#" if value == key.default else ""
        # for str, bool, int and lists of str TOML and JSON are spelled alike
        lines += [
            "",
            f"# {key.description} [{key.variable}]",
            f"{mark}{field} = {json.dumps(value, ensure_ascii=False)}",
        ]
    return "\n".join(lines) + "\n"


def value_of(settings: Any, name: str) -> Any:
    """Return the value of a setting by its full name, or a section by its name."""
    for field in name.split("."):
        settings = getattr(settings, field)
    return settings


def _without_password(key: SettingKey, value: object) -> object:
    if key.name != "store.url":
        return value
    return re.sub(r"(?:(//[^:/@]*:)[^@]*(?=@)|(password=)[^&]*)", r"\1\2***", str(value))


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 3] + "..."


def _syntax_error(name: str, text: str, message: str) -> str:
    place = re.search(r"\(at line (\d+), column \d+\)", message)
    line = int(place[1]) if place else text.rstrip("\n").count("\n") + 1
    if twice := re.search(r"Cannot declare \((.*?),?\) twice", message):
        table = ".".join(re.findall(r"'([^']*)'", twice[1]))
        return f"{name} line {line}: [{_printable(table)}] stands there twice: put its lines under the first"
    return f"{name} line {line}: expected TOML, got: {_printable(message)}"


def _printable(text: str) -> str:
    """Return a text that quotes the file, fit for a terminal or log."""
    return "".join(sign if sign.isprintable() else "?" for sign in text[:_MAX_QUOTED])


def _nearest(key: str) -> str:
    return difflib.get_close_matches(key, [*KEYS, *SECTIONS], n=1, cutoff=0)[0]


def _leaves(
    parsed: Mapping[str, object], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], object]]:
    for name, value in parsed.items():
        here = (*path, name)
        if isinstance(value, dict) and ".".join(here) in SECTIONS:
            yield from _leaves(value, here)
        else:
            yield here, value


def _holds(parsed: object, path: tuple[str, ...]) -> bool:
    for name in path:
        if not isinstance(parsed, dict) or name not in parsed:
            return False
        parsed = parsed[name]
    return True
