"""What the documents show is what their programs print, and what they point at is there."""

from __future__ import annotations

import re

import pytest

from microgradpy import DifferentiationError
from tests.documents import COMMAND, DOCUMENTS, PROGRAM, ROOT, drawn, with_fresh_output
from tests.generated_text import assert_is_as_generated

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
DESIGN = [ROOT / "docs" / "design.md", *sorted((ROOT / "docs" / "design").glob("*.md"))]
MODULE = re.compile(r"`((?:[a-z_]+/)*[a-z_]+\.py)`")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_programs_print_what_the_document_shows(path, tmp_path):
    assert_is_as_generated(path, with_fresh_output(path.read_text(), tmp_path), COMMAND)
    for picture, text in drawn(tmp_path).items():
        assert_is_as_generated(picture, text, COMMAND)


@pytest.mark.parametrize("error", DifferentiationError.__subclasses__(), ids=lambda error: error.__name__)
def test_every_refusal_has_a_message_on_the_page_of_errors(error):
    printed = [block["printed"] or "" for block in PROGRAM.finditer((ROOT / "docs" / "errors.md").read_text())]
    assert any(text.startswith(f"{error.__name__}: ") for text in printed)


def name_of(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_links_lead_somewhere(path):
    for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", path.read_text()):
        page = path.parent / target if target else path
        assert page.exists(), target
        assert not anchor or anchor in anchors_of(page.read_text()), f"{target}#{anchor}"


def anchors_of(text):
    """What the headings of a page are linked by: their words, in lower case, with hyphens between them."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_design_page_leads_to_all_others():
    text = DESIGN[0].read_text()
    assert [name_of(path) for path in DESIGN[1:] if f"(design/{path.name})" not in text] == []


@pytest.mark.parametrize("path", [*DESIGN, ROOT / "docs" / "contributing.md"], ids=name_of)
def test_modules_that_the_design_names_are_there(path):
    files = [file for part in ("microgradpy", "tests") for file in (ROOT / part).rglob("*.py")]
    there = {"/" + file.relative_to(ROOT).as_posix() for file in files}
    missing = [name for name in MODULE.findall(path.read_text()) if not any(file.endswith(f"/{name}") for file in there)]
    assert missing == []


def test_the_table_of_folders_has_all_of_them():
    text = DESIGN[0].read_text()
    parts = [f"{path.name}/" if path.is_dir() else path.name for path in (ROOT / "microgradpy").glob("[a-z]*")]
    parts = [part for part in parts if part.endswith((".py", "/")) and part != "__pycache__/"]
    assert [part for part in sorted(parts) if f"`{part}`" not in text] == []
