"""What the documents show is what their programs print, and what they point at is there."""

from __future__ import annotations

import re

import pytest

from microgradpy import DifferentiationError
from tests.documents import COMMAND, DOCUMENTS, PROGRAM, ROOT, drawn, with_fresh_output
from tests.generated_text import assert_is_as_generated

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_programs_print_what_the_document_shows(path, tmp_path):
    assert_is_as_generated(path, with_fresh_output(path.read_text(), tmp_path), COMMAND)
    for picture, text in drawn(tmp_path).items():
        assert_is_as_generated(picture, text, COMMAND)


@pytest.mark.parametrize("error", DifferentiationError.__subclasses__(), ids=lambda error: error.__name__)
def test_every_refusal_has_a_message_on_the_page_of_errors(error):
    printed = [block["printed"] or "" for block in PROGRAM.finditer((ROOT / "docs" / "errors.md").read_text())]
    assert any(text.startswith(f"{error.__name__}: ") for text in printed)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text()):
        assert (path.parent / target).exists(), target
