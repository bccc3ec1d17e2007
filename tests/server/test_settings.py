"""Settings: defaults, the three sources and their order, and errors that name the key and the place."""

import json
import re
import tomllib
from operator import attrgetter
from pathlib import Path

import pytest
from rows import each_row

from truc_server.settings.settings import MatchDefaults, Settings, SettingsError
from truc_server.settings.settings_file import (
    KEYS,
    MAX_FILE,
    SECTIONS,
    expected,
    line_of,
    load,
    settings_text,
)

PORT = "listen.port expected a whole number from 0 to 65535"


def from_text(text: str) -> Settings:
    return load(file=("truc.toml", text), environ={}, flags={})


def from_environment(**variables: str) -> Settings:
    return load(file=None, environ=variables, flags={})


def refusal(text: str) -> str:
    with pytest.raises(SettingsError) as caught:
        from_text(text)
    return str(caught.value)


class TestDefaults:
    def test_nothing_given_is_the_defaults(self):
        assert load(file=None, environ={}, flags={}) == Settings()

    def test_default_opts_are_those_of_the_specification(self):
        assert MatchDefaults().opts() == (30_000, 120_000, 60_000, 1, 0, 0, 3, 600_000, 1, 3)

    @each_row("when_gone, number", [("wait", 2), ("substitute", 1)])
    def test_words_of_opts_become_their_numbers(self, when_gone, number):
        opts = MatchDefaults(when_gone=when_gone, spectators="none").opts()
        assert (opts[4], opts[8]) == (number, 0)


class TestFile:
    @each_row(
        "text, key, value",
        [
            ("[listen]\nport = 1234", "listen.port", 1234),
            ('name = "La Penya"', "name", "La Penya"),
            (f"name = '{'à' * 32}'", "name", "à" * 32),
            ('[listen]\nhosts = ["127.0.0.1"]', "listen.hosts", ("127.0.0.1",)),
            ("access.banned = ['192.0.2.0/24', '::1']", "access.banned", ("192.0.2.0/24", "::1")),
            *(
                (f"listen.public_host = '{host}'", "listen.public_host", host)
                for host in ("", "truc.example", "192.0.2.1", "2001:db8::1")
            ),
            *(
                (f"access.moved_to = '{place}'", "access.moved_to", place)
                for place in ("", "truc.example:7373", "192.0.2.1:1", "[2001:db8::1]:65535")
            ),
            *(
                (f"web.origin = '{origin}'", "web.origin", origin)
                for origin in (
                    "",
                    "https://truc.example",
                    "http://localhost:7374",
                    "https://[2001:db8::1]:8443",
                )
            ),
        ],
    )
    def test_value_of_the_file_is_taken(self, text, key, value):
        assert attrgetter(key)(from_text(text)) == value

    def test_dotted_and_inline_forms_are_the_same(self):
        assert from_text("listen.port = 5") == from_text("listen = {port = 5}")

    @each_row(
        "text, told",
        [
            ("# one\n\n[listen]\n\nport = 'abc'\n", f"line 5: {PORT}, got 'abc'"),
            ("[listen]\nport = 65536", f"line 2: {PORT}, got 65536"),
            ("[listen]\nport = true", f"line 2: {PORT}, got True"),
            ("name = 5", "line 1: name expected text of 1 to 64 bytes, got 5"),
            ("name = ''", "line 1: name expected text of 1 to 64 bytes, got ''"),
            ('[log]\nformat = "xml"', 'line 2: log.format expected one of "human", "json", got \'xml\''),
            ('guests = "yes"', "line 1: guests expected true or false, got 'yes'"),
            (
                "[listen]\nhosts = []",
                "line 2: listen.hosts expected a list of one or more addresses or names, got []",
            ),
            (
                "[listen]\nhosts = ['::1', 'a..b']",
                "line 2: listen.hosts expected a list of one or more addresses or names, got 'a..b' in it",
            ),
            ("[metrics]\nhost = 'a..b'", "line 2: metrics.host expected a name or an address, got 'a..b'"),
            ("listen = 5", "line 1: listen expected a section [listen], got 5"),
            ("[listen]\nprot = 5", "line 2: unknown key listen.prot; the nearest is listen.port"),
            ("\n[limit]\n", "line 2: unknown key limit; the nearest is limits"),
            (
                "[access]\nbanned = ['192.0.2.1', 'Ana']",
                "line 2: access.banned expected a list of at most 1000 fingerprints, tags of guests, addresses"
                " and networks, got 'Ana' in it",
            ),
            *(
                (
                    f"[listen]\npublic_host = '{host}'",
                    "line 2: listen.public_host expected a name or an address without a port, or nothing,"
                    f" got '{host}'",
                )
                for host in (
                    "truc.example:7373",
                    "truc://truc.example",
                    "[2001:db8::1]",
                    "a b",
                    "truc..example",
                )
            ),
            *(
                (
                    f"[store]\nurl = '{kind}://truc:hush@host/truc'",  # and its password is not told
                    "line 2: store.url expected postgresql://USER@HOST/NAME, sqlite:///FILE, or nothing,"
                    f" got '{kind}://truc:***@host/truc'",
                )
                for kind in ("postgres", "mysql")
            ),
        ],
    )
    def test_mistake_is_told_with_its_line_and_what_was_expected(self, text, told):
        assert refusal(text) == f"truc.toml {told}"

    @each_row(
        "text, told",
        [
            (f"name = '{'à' * 33}'", "truc.toml line 1: name expected text of 1 to 64 bytes, got 'àà"),
            ('data = "a\\u0000"', "truc.toml line 1: data expected text of at most 4096 bytes, got 'a\\x00'"),
            ("[listen.port]\nx = 1", f"truc.toml line 1: {PORT}, got {{"),
            ("name = 'a'\nport 5\n", "truc.toml line 2: expected TOML"),
            ("name = 'a'\nmotd =", "truc.toml line 2: expected TOML"),
            ("[listen]\n[store]\n[listen]\n", "truc.toml line 3: [listen] stands there twice: put its lines"),
            ("#" * (MAX_FILE + 1), f"truc.toml: expected at most {MAX_FILE} bytes, got {MAX_FILE + 1}"),
        ],
    )
    def test_mistake_is_told_with_its_beginning(self, text, told):
        assert refusal(text).startswith(told)

    def test_long_value_is_cut_in_the_message(self):
        assert len(refusal(f"guests = '{'x' * 5_000}'")) < 200


class TestForms:
    """What types and ranges cannot say."""

    @each_row(
        "word, number",
        [("none", 0), ("live", 1), ("hand", 2), ("delay:1", 4), ("delay:180", 183), ("delay:3600", 3603)],
    )
    def test_spectators_become_a_number_of_opts(self, word, number):
        assert from_text(f"[match]\nspectators = '{word}'").match.opts()[8] == number

    @each_row("word", ["", "all", "delay", "delay:", "delay:0", "delay:3601", "delay:-1", "delay:1.5"])
    def test_other_words_for_spectators_are_refused(self, word):
        assert refusal(f"[match]\nspectators = '{word}'") == (
            'truc.toml line 2: match.spectators expected one of "none", "live", "hand", "delay:SECONDS" with 1..3600,'
            f" got '{word}'"
        )

    @each_row(
        "place",
        [
            "truc.example",
            "truc.example:",
            ":7373",
            "a:0",
            "a:65536",
            "a:x",
            "2001:db8::1:7373",
            "truc://a:1",
            "a b:1",
            "a..b:1",
        ],
    )
    def test_other_places_are_refused(self, place):
        assert "access.moved_to expected host:port, or nothing" in refusal(f"[access]\nmoved_to = '{place}'")


class TestLine:
    @each_row(
        "text, line",
        [
            ("a.b = 1", 1),
            ("# a.b = 0\n[a]\nc = 2\nb = 1", 4),
            ("a = {c = 2, b = 1}", 1),
            ("[a]\nc = '''\nb = 0\n'''\nb = 1", 5),
            ("[a]\nb = [\n 1,\n 2,\n]", 2),
            ("[c]\nb = 0\n[a]\n'b' = 1", 4),
            ("[a]\r\nb = 1\r\n", 2),
        ],
    )
    def test_line_of_a_key_is_found(self, text, line):
        assert line_of(text, ("a", "b")) == line


class TestEnvironment:
    @each_row(
        "variable, text, key, value",
        [
            ("TRUC_LISTEN_PORT", "99", "listen.port", 99),
            ("TRUC_ACCESS_BANNED", "", "access.banned", ()),
            ("TRUC_LISTEN_HOSTS", "127.0.0.1, ::1", "listen.hosts", ("127.0.0.1", "::1")),
            ("TRUC_GUESTS", "false", "guests", False),
            ("TRUC_NAME", "7373", "name", "7373"),
        ],
    )
    def test_value_is_read_from_text(self, variable, text, key, value):
        assert attrgetter(key)(from_environment(**{variable: text})) == value

    @each_row(
        "variable, text, told",
        [
            ("TRUC_LISTEN_PORT", "abc", f"TRUC_LISTEN_PORT: {PORT}, got 'abc'"),
            ("TRUC_LISTEN_PROT", "5", "TRUC_LISTEN_PROT: unknown variable; the nearest is TRUC_LISTEN_PORT"),
            ("TRUC_PORT", "5", "TRUC_PORT: unknown variable; the nearest is TRUC_LISTEN_PORT"),
        ],
    )
    def test_mistake_names_the_variable(self, variable, text, told):
        with pytest.raises(SettingsError) as caught:
            from_environment(**{variable: text})
        assert str(caught.value) == told

    def test_variables_of_other_programs_are_left_alone(self):
        assert from_environment(TRUC_HOME="/x", PATH="/bin", TRUC_SETTINGS="f") == Settings()

    def test_environment_wins_over_the_file(self):
        given = load(file=("f", "listen.port = 1"), environ={"TRUC_LISTEN_PORT": "2"}, flags={})
        assert given.listen.port == 2


class TestFlags:
    def test_flag_wins_over_the_environment(self):
        flags = {"listen.port": ("--port", 3)}
        assert load(file=None, environ={"TRUC_LISTEN_PORT": "2"}, flags=flags).listen.port == 3

    def test_wrong_value_names_the_flag(self):
        with pytest.raises(SettingsError) as caught:
            load(file=None, environ={}, flags={"listen.port": ("--port", -1)})
        assert str(caught.value) == "--port: listen.port expected a whole number from 0 to 65535, got -1"


class TestPrinted:
    def test_file_of_defaults_as_it_stands_changes_nothing(self):
        assert from_text(settings_text(Settings())) == Settings()

    def test_file_of_defaults_uncommented_says_the_defaults(self):
        text = re.sub(r"(?m)^#(?=\w)", "", settings_text(Settings()))
        assert (from_text(text), len(tomllib.loads(text))) == (Settings(), 6 + len(SECTIONS))

    @each_row("key", KEYS.values())
    def test_file_explains_every_key(self, key):
        assert f"# {key.description} [{key.variable}]\n#{key.name.rpartition('.')[2]} = " in settings_text(
            Settings()
        )

    def test_file_of_other_settings_has_the_same_effect(self):
        given = from_text(
            'name = "\\"A\\\\ \\t é"\nguests = false\n[listen]\nhosts = ["::1"]\n[log]\nlevel = "error"'
        )
        assert from_text(settings_text(given)) == given
        lines = settings_text(from_text("guests = false")).splitlines()
        assert [line for line in lines if line and line[0] not in "#["] == ["guests = false"]

    def test_file_of_defaults_is_far_from_the_limit_of_a_file(self):
        assert len(settings_text(Settings()).encode()) < MAX_FILE / 2

    def test_file_hides_the_password_of_the_database(self):
        given = from_text('[store]\nurl = "postgresql://truc:hush@host/truc"')
        assert 'url = "postgresql://truc:***@host/truc"' in settings_text(given)
        given = from_text(
            '[store]\nurl = "postgresql://host/truc?user=truc&password=hush&port=1&sslpassword=hush"'
        )
        shown = 'url = "postgresql://host/truc?user=truc&password=***&port=1&sslpassword=***"'
        assert shown in settings_text(given)


def shortened(takes: str) -> str:
    """Say what a setting takes in the few words of a table; its meaning names the words that it may be."""
    takes = re.sub(r"^(?:a whole number from|text of) (\d+) to (\d+)", "\\1\u2013\\2", takes)
    takes = re.sub(r"^a list of at most (\d+) .*", r"≤\1", takes).replace("text of at most ", "≤")
    return "" if takes == "true or false" or takes.startswith("one of ") else f" ({takes})"


class TestHostingPage:
    PAGE = (Path(__file__).parents[2] / "docs" / "hosting" / "settings.md").read_text("utf-8")

    @each_row("key", KEYS.values())
    def test_every_setting_stands_on_the_page_as_it_is(self, key):
        default = json.dumps(key.default, ensure_ascii=False)
        meaning = f"{key.description}{shortened(expected(key))}"
        assert f"\n* `{key.name}`, `{default}`: {meaning}\n" in self.PAGE

    def test_page_names_no_setting_that_is_none(self):
        named = re.findall(r"^\* `([a-z_.]+)`, `.*`: ", self.PAGE, re.MULTILINE)
        assert named == list(KEYS)

    def test_message_on_the_page_is_the_one_that_comes(self):
        wrong = "\n" * 10 + "[listen]\nport = 'abc'"
        assert f"`truc-server: {refusal(wrong)}`" in self.PAGE


@each_row(
    "origin",
    [
        "truc.example",
        "https://Truc.example",
        "https://truc.example/",
        "https://truc.example:443",
        "ws://truc.example",
    ],
)
def test_an_origin_is_taken_only_as_browsers_send_it(origin):
    with pytest.raises(SettingsError, match=r"web\.origin"):
        from_text(f"web.origin = '{origin}'")


@each_row(
    "line, key",
    [
        ("node = '-one'", "cluster.node"),
        ("node = 'a node'", "cluster.node"),
        (f"node = '{'n' * 33}'", "cluster.node"),
        ("inner = '10.0.0.1'", "cluster.inner"),
        ("inner = './socket'", "cluster.inner"),
        ("public = 'x.example'", "cluster.public"),
        ("route = 'redirect'", "cluster.route"),
        ("lease_s = 0", "cluster.lease_s"),
    ],
)
def test_what_names_no_node_is_refused(line, key):
    with pytest.raises(SettingsError, match=re.escape(key)):
        from_text(f"[cluster]\n{line}")


@each_row("inner", ["10.0.0.1:7375", "[::1]:7375", "node1:7375", "/run/truc/one"])
def test_inner_door_is_a_port_or_a_socket(inner):
    assert from_text(f"cluster.inner = '{inner}'").cluster.inner == inner
