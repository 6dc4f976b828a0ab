"""Layers of a model, and the tasks of one iteration under three ways of training in parallel.

Problem: which collectives an iteration has, of which sizes, and what each of them waits for.
Input:   layers with their times and bytes; a function from collective and bytes to seconds.
Output:  tasks for :func:`experiments.training.timeline.timeline`.
Cost:    linear in the layers.
Source:  Zhao et al. (NSDI 2025), appendix A.4 (data and expert parallelism); the documentation of
         PyTorch's DistributedDataParallel (buckets fill in the order in which gradients become
         ready) and FullyShardedDataParallel (allgathers are issued one layer ahead).

- Data parallel: gradients are collected in buckets; an allreduce starts when a bucket is full. The
  next iteration waits for all of them.
- Expert parallel: as data parallel, and around each expert layer an all-to-all that computation
  waits for, there and back, in both passes. The experts' gradients need no allreduce.
- Sharded: an allgather of each layer's parameters before its forward and its backward pass, issued
  when the layer before begins; a reduce-scatter of its gradients after its backward pass.

A collective, once begun, is not interrupted. Optimizer steps are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from experiments.training.timeline import Stream, Task
from forestcoll.errors import InvalidParameterError

__all__ = ["Layer", "SecondsOf", "data_parallel", "expert_parallel", "sharded"]

SecondsOf = Callable[[str, int], float]
"""Seconds of a collective of so many bytes; 0 bytes take none."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer of a model.

    Parameters
    ----------
    name : str
    forward_s, backward_s : float
        Time of computation.
    parameter_bytes : int
        Of its parameters, and of the gradients that are exchanged.
    routed_bytes : int
        For a layer of experts: bytes that a GPU sends in one all-to-all; else 0.
    """

    name: str
    forward_s: float
    backward_s: float
    parameter_bytes: int
    routed_bytes: int = 0


def data_parallel(layers: Sequence[Layer], seconds_of: SecondsOf, bucket_bytes: int) -> list[Task]:
    """Return the tasks of an iteration with gradients in buckets."""
    return expert_parallel([_without_experts(one) for one in layers], seconds_of, bucket_bytes)


def _without_experts(one: Layer) -> Layer:
    return Layer(one.name, one.forward_s, one.backward_s, one.parameter_bytes)


def expert_parallel(
    layers: Sequence[Layer], seconds_of: SecondsOf, bucket_bytes: int
) -> list[Task]:
    """Return the tasks of an iteration whose experts are spread over all GPUs."""
    _check(layers)
    if bucket_bytes < 1:
        raise InvalidParameterError(f"bucket is {bucket_bytes} bytes; it must be 1 or more")
    tasks: list[Task] = []
    last: tuple[str, ...] = ()
    for one in layers:
        last = _computed(tasks, one, "forward", last, seconds_of)
    waiting, ready = 0, 0
    for one in reversed(layers):
        last = _computed(tasks, one, "backward", last, seconds_of)
        waiting += 0 if one.routed_bytes else one.parameter_bytes
        while waiting >= bucket_bytes:
            tasks.append(_allreduce(ready, bucket_bytes, last, seconds_of))
            waiting, ready = waiting - bucket_bytes, ready + 1
    if waiting:
        tasks.append(_allreduce(ready, waiting, last, seconds_of))
    return tasks


def _allreduce(number: int, size: int, after: tuple[str, ...], seconds_of: SecondsOf) -> Task:
    return Task(
        f"bucket {number}", Stream.COMMUNICATION, seconds_of("allreduce", size), after, "allreduce"
    )


def _computed(
    tasks: list[Task], one: Layer, way: str, last: tuple[str, ...], seconds_of: SecondsOf
) -> tuple[str, ...]:
    """Add a pass through a layer, with all-to-alls around it if it has experts."""
    seconds = one.forward_s if way == "forward" else one.backward_s
    compute = Task(f"{one.name} {way}", Stream.COMPUTE, seconds, last, "compute")
    if not one.routed_bytes:
        tasks.append(compute)
        return (compute.name,)
    there, back = (
        Task(
            f"{one.name} {way} {part}",
            Stream.COMMUNICATION,
            seconds_of("all-to-all", one.routed_bytes),
            after,
            "all-to-all",
        )
        for part, after in (("dispatch", last), ("combine", (compute.name,)))
    )
    tasks += [there, Task(compute.name, compute.stream, seconds, (there.name,), "compute"), back]
    return (back.name,)


def sharded(layers: Sequence[Layer], seconds_of: SecondsOf, prefetch: int = 1) -> list[Task]:
    """Return the tasks of an iteration with sharded parameters.

    Parameters
    ----------
    layers : sequence of Layer
    seconds_of : callable
    prefetch : int
        How many layers ahead the parameters are gathered; 0 waits for each layer to begin.
    """
    _check(layers)
    if prefetch < 0:
        raise InvalidParameterError(f"prefetch is {prefetch} layers; it must be 0 or more")
    passes = [(one, "forward") for one in layers]
    passes += [(one, "backward") for one in reversed(layers)]
    tasks: list[Task] = []
    gathered = 0
    for number, (one, way) in enumerate(passes):
        before = (_name(*passes[number - 1]),) if number else ()
        while gathered <= min(number + prefetch, len(passes) - 1):
            tasks.append(_gather(*passes[gathered], before, seconds_of))
            gathered += 1
        seconds = one.forward_s if way == "forward" else one.backward_s
        needs = (*before, f"{_name(one, way)} allgather")
        tasks.append(Task(_name(one, way), Stream.COMPUTE, seconds, needs, "compute"))
        if way == "backward":
            tasks.append(_scatter(one, seconds_of))
    return tasks


def _name(one: Layer, way: str) -> str:
    return f"{one.name} {way}"


def _gather(one: Layer, way: str, before: tuple[str, ...], seconds_of: SecondsOf) -> Task:
    seconds = seconds_of("allgather", one.parameter_bytes)
    return Task(f"{_name(one, way)} allgather", Stream.COMMUNICATION, seconds, before, "allgather")


def _scatter(one: Layer, seconds_of: SecondsOf) -> Task:
    return Task(
        f"{one.name} reduce-scatter",
        Stream.COMMUNICATION,
        seconds_of("reduce-scatter", one.parameter_bytes),
        (f"{one.name} backward",),
        "reduce-scatter",
    )


def _check(layers: Sequence[Layer]) -> None:
    if not layers:
        raise InvalidParameterError("the model has no layers; give at least one")
    for one in layers:
        for value in (one.forward_s, one.backward_s, one.parameter_bytes, one.routed_bytes):
            if not 0 <= value < float("inf"):
                raise InvalidParameterError(
                    f"layer {one.name!r} has {value}; times and bytes must be 0 or more"
                )
