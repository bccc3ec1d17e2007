"""The page of the tests names every folder, and every long run with its flags."""

import importlib
import re
from collections import defaultdict
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
PAGE = (TESTS / "README.md").read_text(encoding="utf-8")
FOLDERS, RUNS = PAGE.split("## Long runs")
FLAG = re.compile(r"--[a-z]+")


def flags_told():
    """Return the flags of each module, by all rows that tell of it."""
    flags = defaultdict(set)
    for module, told in re.findall(r"^\| `([\w.]+)` \|.*\| ([^|]*) \|$", RUNS, re.MULTILINE):
        flags[module] |= set(FLAG.findall(told))
    return flags


def main_of(module):
    """Return what runs when a module, or a folder, is run."""
    is_folder = (TESTS / module.replace(".", "/")).is_dir()
    return importlib.import_module(f"{module}.__main__" if is_folder else module).main


@pytest.mark.slow
@pytest.mark.parametrize(("module", "flags"), flags_told().items())
def test_long_run_has_the_flags_that_the_page_tells(module, flags, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", [module, "--help"])
    with pytest.raises(SystemExit) as ended:
        main_of(module)()
    options = re.findall(r"^  (-.*?)(?:  |$)", capsys.readouterr().out, re.MULTILINE)
    assert (ended.value.code, set(FLAG.findall(" ".join(options))) - {"--help"}) == (0, flags)


def test_page_names_whatever_can_be_run():
    modules = [
        path
        for folder in ("chaos", "fuzz", "page", "rules_elsewhere", "simulation")
        for path in (TESTS / folder).glob("*.py")
    ]
    run = {
        ".".join(path.relative_to(TESTS).with_suffix("").parts).removesuffix(".__main__")
        for path in modules
        if path.stem != "wide_server" and 'if __name__ == "__main__"' in path.read_text(encoding="utf-8")
    }
    assert run == set(flags_told()) - {"benchmarks"}


def test_page_names_every_folder():
    folders = {path.name for path in TESTS.iterdir() if path.is_dir() and not path.name.startswith("_")}
    assert set(re.findall(r"`(\w+)/`", FOLDERS)) == folders
