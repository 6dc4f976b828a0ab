"""Figure requests of an experiment or a command: a kind of figure and its options.

A request is one word: the kind, such as ``generation-time``, with the options of the kind, such as
``pareto:y=depth``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from experiments.config.document import nearest
from experiments.config.kinds import AXES, KINDS, SIDES, Option, is_function, kind_of
from experiments.measures.declared import DRAWN, SIMULATED, TIMED
from forestcoll.errors import InvalidExperimentError
from forestcoll.former_names import COLUMNS, renamed

__all__ = ["Figure", "check_figure", "check_one_size", "parse_figure"]

_QUOTES = 'a comma in a YAML list needs quotes, as in ["pareto:x=depth,y=k"]'


@dataclass(frozen=True, slots=True)
class Figure:
    """A kind of figure with all its options."""

    kind: str
    options: Mapping[str, str]

    @property
    def sized(self) -> bool:
        """Whether the figure shows a column against the size of the data.

        Some methods (tacos) have a parameter of the same name. A swept axis means that parameter,
        unless the drawn column depends on the size of the data.
        """
        options = kind_of(self.kind).options
        return any(
            word == "size_bytes" and (options[key].takes != "swept" or bool(self._by_size))
            for key, word in self.options.items()
        )

    @property
    def of_one_size(self) -> str:
        """A column that depends on the size of the data, if no axis shows the size."""
        return "" if self.sized else self._by_size

    @property
    def _by_size(self) -> str:
        columns = (w for w in self.options.values() if w in DRAWN and DRAWN[w].sized)
        return next(columns, "")

    @property
    def timed(self) -> bool:
        """Whether the figure shows a column that depends on the machine of the run."""
        return self.kind == "breakdowns" or any(word in TIMED for word in self.options.values())

    @property
    def simulated(self) -> bool:
        """Whether the figure shows a column from simulations."""
        return any(word in SIMULATED for word in self.options.values())


def parse_figure(text: str) -> Figure:
    """Read ``kind``, ``kind:option=column,option=column`` or ``module:function``.

    Raises
    ------
    InvalidExperimentError
        For an unknown kind or option, or a column that no row has.

    Examples
    --------
    >>> parse_figure("pareto:y=depth").options
    {'x': 'algbw_gb_s', 'y': 'depth'}
    """
    name, colon, rest = text.partition(":")
    if name not in KINDS and is_function(text):
        return Figure(text, {})
    if name not in KINDS:
        hint = _QUOTES if "=" in name else nearest(name, KINDS)
        raise InvalidExperimentError(f"unknown kind of figure {name!r}; {hint}")
    kind = KINDS[name]
    options = {key: option.default for key, option in kind.options.items()}
    for part in rest.split(",") if colon else []:
        key, equals, word = (piece.strip() for piece in part.partition("="))
        word, *_ = renamed({word: None}, COLUMNS)
        if key not in kind.free:
            hint = nearest(key, kind.free) if kind.free else "it takes none"
            raise InvalidExperimentError(f"{name}: unknown option {key!r}; {hint}")
        if not equals or not _takes(kind.options[key], word):
            known = AXES if kind.options[key].takes == "axis" else DRAWN
            raise InvalidExperimentError(
                f"{name}: {key} cannot be {word!r}; {nearest(word, known)}"
            )
        options[key] = word
    if "x" in options and options["x"] == options["y"]:
        raise InvalidExperimentError(f"{name}: x and y are both {options['x']!r}; change one")
    if "second" in options:
        _check_two(name, options["y"], options["second"])
    return Figure(name, options)


def _check_two(name: str, y: str, second: str) -> None:
    """Refuse two columns that cannot share an axis."""
    if y == second:
        raise InvalidExperimentError(f"{name}: y and second are both {y!r}; change one")
    units = [DRAWN[column].unit or "a number" for column in (y, second)]
    if units[0] != units[1]:
        raise InvalidExperimentError(
            f"{name}: {y} is in {units[0]}, {second} in {units[1]}; take two of one unit"
        )


def _takes(option: Option, word: str) -> bool:
    if option.takes in ("side", "swept", "choice", "value"):
        return True  # the experiment or the rows decide whether such a parameter exists
    return word in (AXES if option.takes == "axis" else DRAWN)


def check_one_size(figure: Figure, sizes: int) -> None:
    """Refuse a figure in which points of several data sizes would coincide.

    Raises
    ------
    InvalidExperimentError
        If no axis shows the size, and the number of sizes is not one.
    """
    if figure.of_one_size and sizes != 1:
        raise InvalidExperimentError(
            f"{figure.kind}: {figure.of_one_size} depends on the size of the data; take "
            f"lines-by-size:y={figure.of_one_size}, or a single size"
        )


def check_figure(
    figure: Figure, parameters: Collection[str], series: int, *, sizes: int = 1
) -> None:
    """Refuse a figure that an experiment cannot provide.

    Parameters
    ----------
    parameters : collection of str
        Names of parameters of the topologies and methods.
    series : int
        Number of methods, each choice of parameters counted.
    sizes : int
        Number of data sizes of the experiment.

    Raises
    ------
    InvalidExperimentError
    """
    kind = kind_of(figure.kind)
    for key, option in kind.options.items():
        word = figure.options[key]
        known = {*SIDES, *parameters} if option.takes == "side" else {"gpus", *parameters}
        known |= {"size_bytes"} if figure.sized else set()
        known = {"method", *parameters} if option.takes == "choice" else known
        if option.takes in ("side", "swept", "choice") and word not in known:
            raise InvalidExperimentError(
                f"{figure.kind}: {key} cannot be {word!r}, which is not a parameter here; "
                f"{nearest(word, known)}"
            )
    check_one_size(figure, sizes)
    if figure.sized and not sizes:
        raise InvalidExperimentError(
            f"{figure.kind}: there are no sizes of the data; add some, such as sizes: [1KB..1GB]"
        )
    if series < kind.least_methods:
        raise InvalidExperimentError(
            f"{figure.kind}: there is only one method; add another, or parameters"
        )
