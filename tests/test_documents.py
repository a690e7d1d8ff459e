"""What the documents show is what their programs print, and what they point at is there."""

from __future__ import annotations

import re

import pytest

from tests.documents import DOCUMENTS, ROOT, with_fresh_output

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_programs_print_what_the_document_shows(path, tmp_path):
    document = path.read_text()
    assert with_fresh_output(document, tmp_path) == document


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text()):
        assert (path.parent / target).exists(), target
