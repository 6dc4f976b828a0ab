"""Channels from either kind of file."""

from pathlib import Path

from forestcoll.topology.importers.channels.channel_files import read_channels
from tests.topology.importers.small_files import GRAPHS, LOG


def test_the_content_decides(tmp_path: Path) -> None:
    for text, gpus in ((GRAPHS, "device"), (LOG, "rank")):
        path = tmp_path / gpus
        path.write_text(text, encoding="utf-8")
        assert read_channels(path).gpus == gpus
