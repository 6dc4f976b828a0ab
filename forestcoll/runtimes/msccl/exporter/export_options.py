"""Options of the MSCCL export: protocol, channels, instances, in place, sizes."""

from __future__ import annotations

from dataclasses import dataclass

from forestcoll.errors import InvalidParameterError
from forestcoll.runtimes.msccl.algorithm import PROTOCOLS
from forestcoll.runtimes.msccl.exporter.executor_limits import CHANNELS

__all__ = ["MscclOptions"]


@dataclass(frozen=True, slots=True)
class MscclOptions:
    """Options of an MSCCL algorithm.

    Parameters
    ----------
    protocol : str
        One of :data:`forestcoll.runtimes.msccl.PROTOCOLS`.
    channels : int, optional
        The most channels of each instance. By default, as many as the limits of the runtime allow:
        8 in all, or the nearest number that fits.
    instances : int
        Parts of every chunk; each part has its own channels.
    in_place : bool
        Whether the input of a call is part of its output. Reductions support both kinds of calls
        in any case; other collectives then omit the copy of a GPU's own part.
    min_bytes, max_bytes : int
        The sizes of the data for which the algorithm is meant; 0 is no limit.
    """

    protocol: str = "Simple"
    channels: int | None = None
    instances: int = 1
    in_place: bool = False
    min_bytes: int = 0
    max_bytes: int = 0

    def __post_init__(self) -> None:
        if self.protocol not in PROTOCOLS:
            raise InvalidParameterError(
                f"the protocol is {self.protocol!r}; it must be one of {', '.join(PROTOCOLS)}"
            )
        for name, least in (("channels", 1), ("instances", 1), ("min_bytes", 0), ("max_bytes", 0)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise InvalidParameterError(f"{name} is {value}; it must be {least} or more")
        if 0 < self.max_bytes < self.min_bytes:
            raise InvalidParameterError(
                f"max_bytes is {self.max_bytes}, less than min_bytes, {self.min_bytes}"
            )
        if self.instances * (self.channels or 1) > CHANNELS:
            raise InvalidParameterError(
                f"{self.instances} instances of {self.channels or 1} channels each are more than "
                f"the {CHANNELS} channels that the runtime has"
            )
