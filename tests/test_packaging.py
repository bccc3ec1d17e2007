"""What is built for others: everything of the packages as it stands in the tree, and nothing besides."""

import tomllib
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[1]
WHEEL = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
IGNORED = [line.rstrip("/") for line in (ROOT / ".gitignore").read_text().splitlines()]


def is_left_out(path: Path) -> bool:
    """Tell whether the build leaves a file out: it does so with what git ignores."""
    return any(fnmatch(part, pattern) for part in path.relative_to(ROOT).parts for pattern in IGNORED)


def test_every_package_is_in_the_wheel() -> None:
    found = (
        path.parent
        for side in ("protocol", "server", "client")
        for path in (ROOT / side).glob("*/__init__.py")
    )
    assert {str(path.relative_to(ROOT)) for path in found} == {*WHEEL["packages"]}


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


def test_every_package_says_that_it_is_typed() -> None:
    assert [package for package in WHEEL["packages"] if not (ROOT / package / "py.typed").exists()] == []


def test_wheel_has_the_packages_alone() -> None:
    assert WHEEL.keys() == {"packages"}
