"""Chunks of an allgather and of an all-to-all."""

import pytest

from baselines.synthesizers.taccl.exchange import exchange_of


def test_an_allgather_has_chunks_that_all_others_want() -> None:
    exchange = exchange_of("allgather", gpus=3, parts=2)
    assert (exchange.source, exchange.target) == ((0, 0, 1, 1, 2, 2), (-1,) * 6)
    assert [exchange.destinations(chunk) for chunk in (0, 2, 5)] == [(1, 2), (0, 2), (0, 1)]


def test_an_all_to_all_has_chunks_of_their_own_for_each_pair() -> None:
    """Those of one source together, by destination, the parts of a pair behind each other."""
    exchange = exchange_of("all-to-all", gpus=3, parts=2)
    pairs = [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
    ends = list(zip(exchange.source, exchange.target, strict=True))
    assert ends == [pair for pair in pairs for _ in range(2)]
    assert exchange.destinations(3) == (2,)


@pytest.mark.parametrize("collective", ["allgather", "all-to-all"])
@pytest.mark.parametrize(("gpus", "parts"), [(1, 1), (2, 3), (5, 1), (4, 2)])
class TestChunks:
    def test_there_are_so_many(self, collective: str, gpus: int, parts: int) -> None:
        exchange = exchange_of(collective, gpus, parts)
        pairs = gpus if collective == "allgather" else gpus * (gpus - 1)
        assert len(exchange) == len(exchange.target) == pairs * parts

    def test_ends_give_the_number_of_a_chunk(self, collective: str, gpus: int, parts: int) -> None:
        exchange = exchange_of(collective, gpus, parts)
        ends = zip(exchange.source, exchange.target, strict=True)
        for chunk, (source, target) in enumerate(ends):
            assert exchange.number(source, target, chunk % parts) == chunk

    def test_destinations_want_the_chunk(self, collective: str, gpus: int, parts: int) -> None:
        exchange = exchange_of(collective, gpus, parts)
        for chunk, source in enumerate(exchange.source):
            wanting = [place for place in range(gpus) if exchange.wanted(chunk, place)]
            assert list(exchange.destinations(chunk)) == wanting
            assert source not in wanting
