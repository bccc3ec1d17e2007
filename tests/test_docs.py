"""What the documentation says of files, commands and rules is checked against the tree."""

import re
import shlex
import tomllib
from pathlib import Path

from truc_rules.scenario.runner import main as run_scenarios

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    [
        ROOT / "README.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "tests" / "vectors" / "traces").glob("*.md"),
    ]
)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def test_every_link_of_a_page_leads_to_a_file():
    links = [(page, link) for page in PAGES for link in LINK.findall(page.read_text())]
    missing = [
        (str(page.relative_to(ROOT)), link) for page, link in links if not (page.parent / link).exists()
    ]
    assert missing == []


def test_fragments_have_the_names_that_the_changelog_is_gathered_by():
    kinds = re.compile(r"\+[a-z0-9-]+\.(?:feature|bugfix|doc|removal|misc)\.md")
    names = [file.name for file in (ROOT / "docs" / "news").iterdir() if file.name != "README.md"]
    assert [name for name in names if not kinds.fullmatch(name)] == []
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["towncrier"]
    assert (settings["directory"], settings["filename"]) == ("docs/news", "docs/changelog.md")
    assert "\n<!-- towncrier release notes start -->\n" in (ROOT / settings["filename"]).read_text("utf-8")


def test_changelog_has_what_the_present_version_can_do():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    told = (ROOT / "docs" / "changelog.md").read_text("utf-8")
    assert f"\n## Truc {project['tool']['towncrier']['version']}\n" in told
    assert re.findall(r"^### (.*)$", told, re.MULTILINE)[-3:] == [
        "For players",
        "For hosts",
        "For authors of clients",
    ]


def test_every_page_is_reached_from_the_index():
    seen, queue = set(), [ROOT / "docs" / "README.md"]
    while queue:
        page = queue.pop()
        seen.add(page)
        targets = [(page.parent / link).resolve() for link in LINK.findall(page.read_text())]
        folders = [target for target in targets if target.is_dir()]
        targets += [path for folder in folders for path in folder.glob("*.md")]
        queue += [
            target for target in targets if target.suffix == ".md" and target.exists() and target not in seen
        ]
    fragments = {page for page in PAGES if page.parent.name == "news"}
    assert set(PAGES) - seen - fragments - {ROOT / "README.md"} == set()


def test_scenario_of_the_rules_page_passes(tmp_path, capsys):
    text = (ROOT / "docs/rules/README.md").read_text()
    (block,) = [
        block
        for block in re.findall(r"^```\w*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        if block.startswith("scenario")
    ]
    (tmp_path / "page.scenario").write_text(block)
    assert run_scenarios([str(tmp_path / "page.scenario")]) == 0
    assert capsys.readouterr().out == "1 passed, 0 failed\n"


def test_ci_runs_the_test_line_of_the_readme():
    readme = (ROOT / "README.md").read_text()
    lines = [line for line in readme.splitlines() if "-m pytest" in line]
    assert [line.partition("-m pytest ")[2] for line in lines] == ["-q -n auto", '-q -n 2 -m "not process"']
    words = shlex.split(lines[0])
    assert words[:3] == ["python3", "-m", "venv"]
    assert words[-5:] == ["-m", "pytest", "-q", "-n", "auto"]
    assert "grep -m 1 -- '-m pytest' README.md" in (ROOT / ".ci/run").read_text()
