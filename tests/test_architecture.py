"""The list of floors in docs/architecture.md is the tree's: every folder once, and imports point down."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
FLOORS = re.findall(r"^\* `((?:protocol|server|client)/[a-z_/]+)`:", PAGE, re.MULTILINE)
TOPS = {floor.split("/", 1)[1].replace("/", "."): floor for floor in FLOORS}
DATA = {"server/truc_server/storage/migrations", "server/truc_server/storage/migrations/versions"}
"""Folders that another program reads."""


def packages():
    """Yield every folder of the product that holds Python modules."""
    for top in ("protocol", "server", "client"):
        for file in sorted((ROOT / top).rglob("__init__.py")):
            folder = file.parent.relative_to(ROOT).as_posix()
            if folder not in DATA and len(list(file.parent.glob("*.py"))) > 1:
                yield folder


@cache
def imported(path):
    """Return every module of the product that a file imports."""
    return [
        f"{node.module}.{each.name}"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("truc_")
        for each in node.names
    ]


def folder_of(module):
    """Return the deepest folder of the list in which a module stands."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        if ".".join(parts[:length]) in TOPS:
            return TOPS[".".join(parts[:length])]
    raise AssertionError(f"{module} stands on no floor")


def test_every_folder_has_its_floor():
    assert sorted(FLOORS) == sorted(packages())


def test_imports_point_down():
    """A package's own modules may import its folders; its folders never import upwards."""
    upwards = set()
    for floor in FLOORS:
        for path in (ROOT / floor).glob("*.py"):
            for module in imported(path):
                target = folder_of(module)
                if FLOORS.index(target) < FLOORS.index(floor) and not inside(target, floor):
                    upwards.add((floor.rpartition("/")[2], target.rpartition("/")[2]))
    assert upwards == set()


def inside(target, floor):
    """Tell whether both stand in one package, one of them at its top: contracts of lint-imports order these."""
    return target.startswith(f"{floor}/") or floor.startswith(f"{target}/")


def modules():
    """Return the file of every module of the product, by the name it is imported by."""
    files = {}
    for top in ("protocol", "server", "client"):
        for path in (ROOT / top).rglob("*.py"):
            name = ".".join(path.relative_to(ROOT / top).with_suffix("").parts)
            files[name.removesuffix(".__init__")] = path
    return files


def imports_between_files():
    """Return what every module imports, for types alone too; a name out of a package is its module's, if it has one."""
    files, graph = modules(), {}
    for module, path in files.items():
        named = (name if name in files else name.rpartition(".")[0] for name in imported(path))
        graph[module] = {name for name in named if name in files} - {module}
    return graph


def reached(module, graph):
    """Return every module that a module imports, also by way of others."""
    seen, left = set(), [module]
    while left:
        new = graph[left.pop()] - seen
        seen |= new
        left.extend(new)
    return seen


def test_no_files_import_each_other_in_a_circle():
    graph = imports_between_files()
    assert [module for module in graph if module in reached(module, graph)] == []


AT_BOTH_ENDS = {"Lobby", "Table"}
"""What stands for the same thing in the client library and in the server."""


def top_level():
    """Yield every statement at the top of a module of the product."""
    for package in packages():
        for path in (ROOT / package).glob("*.py"):
            yield from ast.parse(path.read_text("utf-8")).body


def class_names():
    """Return the name of every public class, as often as there is one."""
    named = (node.name for node in top_level() if isinstance(node, ast.ClassDef))
    return [name for name in named if not name.startswith("_")]


def test_class_name_means_one_thing():
    assert {name for name, times in Counter(class_names()).items() if times > 1} == AT_BOTH_ENDS


def test_no_other_type_has_the_name_of_a_class():
    assigned = (node.targets[0] for node in top_level() if isinstance(node, ast.Assign))
    types = {target.id for target in assigned if isinstance(target, ast.Name)}
    assert types & {*class_names()} == set()
