"""The plugin's choice, written from its README: the first line that suits a call."""

from pathlib import Path


def chosen(
    file: Path, collective: str, size: int, boxes: int, ranks: int
) -> tuple[str, str, int] | None:
    """Algorithm, protocol and channels for a call, by the names in the file."""
    for line in file.read_text().split("\n"):
        if line == "" or line[0] == "#":
            continue
        name, least, most, algorithm, protocol, channels, nodes, all_ranks = line.split(",")
        suits = name == collective and int(least) <= size <= int(most)
        if suits and int(nodes) in (-1, boxes) and int(all_ranks) in (-1, ranks):
            return algorithm, protocol, int(channels)
    return None
