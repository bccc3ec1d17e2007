"""What is built for others: everything of the packages as it stands in the tree, and nothing besides."""

import re
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WHEEL = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
IGNORED = [line.rstrip("/") for line in (ROOT / ".gitignore").read_text().splitlines()]


def is_left_out(path: Path) -> bool:
    """Tell whether the build leaves a file out: it does so with what git ignores."""
    return any(fnmatch(part, pattern) for part in path.relative_to(ROOT).parts for pattern in IGNORED)


def test_every_package_is_in_the_wheel_alone_and_says_that_it_is_typed() -> None:
    found = (
        path.parent
        for side in ("protocol", "server", "client")
        for path in (ROOT / side).glob("*/__init__.py")
    )
    assert {str(path.relative_to(ROOT)) for path in found} == {*WHEEL["packages"]}
    assert WHEEL.keys() == {"packages"}
    assert [package for package in WHEEL["packages"] if not (ROOT / package / "py.typed").exists()] == []


def test_every_file_of_a_package_is_in_the_wheel() -> None:
    files = [path for package in WHEEL["packages"] for path in (ROOT / package).rglob("*") if path.is_file()]
    assert {path.parent.name for path in files if is_left_out(path)} <= {"__pycache__"}
    assert {path.suffix for path in files if not is_left_out(path)} >= {
        ".py",
        ".toml",
        ".html",
        ".js",
        ".css",
        ".mjs",
    }


def test_page_for_hosts_names_the_wheel_as_the_build_does() -> None:
    page = (ROOT / "docs" / "hosting" / "README.md").read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(re.findall(r"[\w.-]+\.whl", page)) == {f"truc-{project['version']}-py3-none-any.whl"}


SERVERS = "sqlalchemy structlog alembic prometheus_client openskill confusable_homoglyphs psycopg truc_server"
PEOPLES = "click rich prompt_toolkit jinja2 truc_terminal"
KITS = "truc_client truc_words truc_bots truc_terminal rich prompt_toolkit jinja2"
WITHOUT = """
import pkgutil, sys
from importlib import import_module

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {missing}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Missing())
package = import_module({package!r})
for each in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    if each.name.rpartition(".")[2] != "__main__":
        import_module(each.name)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "missing"),
    [
        ("truc_terminal", SERVERS),
        ("truc_conform", f"{SERVERS} {KITS}"),
        ("truc_client", f"{SERVERS} {PEOPLES}"),
    ],
)
def test_what_players_and_authors_install_needs_nothing_of_the_server(package, missing) -> None:
    """`pip install .` without extras is enough for every module of `truc`, of the kit and of the library."""
    code = WITHOUT.format(package=package, missing={*missing.split()})
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (told.returncode, told.stderr) == (0, "")


@pytest.mark.slow
def test_server_that_was_installed_without_its_extra_says_how_to_get_it() -> None:
    code = (
        f"import sys; sys.modules |= dict.fromkeys({SERVERS.split()[:-1]})\n"
        "from truc_server.main import main; main(['run'])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert told.returncode == 1
    assert re.fullmatch(r"Error: \w+ is not installed; .*: pip install '\.\[server\]'\n", told.stderr)


def test_base_install_names_nothing_of_the_server() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = {line.partition(">")[0].replace("-", "_") for line in project["dependencies"]}
    assert wanted & {*SERVERS.split()} == set()
