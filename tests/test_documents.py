"""What the documents show is what their programs print, and what they point at is there."""

from __future__ import annotations

import re

import pytest

from tests.documents import COMMAND, DOCUMENTS, ROOT, with_fresh_output
from tests.generated_text import assert_is_as_generated

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_programs_print_what_the_document_shows(path, tmp_path):
    assert_is_as_generated(path, with_fresh_output(path.read_text(), tmp_path), COMMAND)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text()):
        assert (path.parent / target).exists(), target
