"""docs/papers/claims*.md say what the optima say."""

import pytest

from experiments.reproduction.claims import Papers, read_claims
from experiments.reproduction.claims_page import claim_tables, judge, updated
from tests.experiments.reproduction.conftest import CLONE


@pytest.fixture(scope="module")
def papers() -> Papers:
    return read_claims()


def test_the_page_equals_the_output_of_the_command(papers: Papers) -> None:
    """`forestcoll reproduction claims` writes it; every optimum is computed again."""
    files = sorted((CLONE / "docs" / "papers").glob("claims*.md"))
    pages = [file.read_text(encoding="utf-8") for file in files]
    tables = claim_tables(papers)
    assert [updated(page, tables) for page in pages] == pages
    for lines in tables.values():
        assert "\n".join(lines) in "\n".join(pages)


def test_every_comparison_is_of_one_model(papers: Papers) -> None:
    """Only rates of theory are beaten or reached; what has no rate is not compared."""
    for claim in papers.claims:
        if not claim.network or claim.source not in ("OptCC", "Swing", "SuperMesh"):
            continue
        one = judge("C1", claim)
        if claim.kind in ("simulated", "measured"):
            assert one.verdict in ("below the bound", "cannot be, by this cut")
        assert (one.verdict == "not comparable") == (claim.kind == "none")
        if one.verdict == "beaten":
            assert one.printed is not None
            assert one.reached is not None
            assert one.printed < one.reached


def test_cells_of_the_table_are_short(papers: Papers) -> None:
    for claim in papers.claims:
        for cell in (claim.said, claim.place, claim.printed, claim.why):
            assert len(cell.split()) <= 12, cell
