"""Optional packages and the extra that installs each.

A plain installation is enough for ``import forestcoll``, optima, schedules, proofs and files.
"""

from __future__ import annotations

from forestcoll.errors import MissingPackageError

__all__ = ["EXTRAS", "missing"]

EXTRAS = {
    "cvxpy": "lp",
    "ortools": "lp",
    "jinja2": "experiments",
    "matplotlib": "experiments",
    "pandas": "experiments",
    "plotly": "experiments",
    "pyarrow": "experiments",
    "ipywidgets": "notebooks",
    "distributed": "dask",
    "mpi4py": "exec",
}
"""Extras by package, under the name that Python imports."""


def missing(error: ModuleNotFoundError, what: str = "this") -> MissingPackageError | None:
    """Return the error for a missing package of an extra; None for any other module.

    Parameters
    ----------
    error : ModuleNotFoundError
    what : str
        What needs the package: the subject of the message.

    Examples
    --------
    >>> print(missing(ModuleNotFoundError(name="ortools.sat"), "sccl"))
    sccl needs the package ortools; install it with: pip install 'forestcoll[lp]'
    """
    package = (error.name or "").partition(".")[0]
    if package not in EXTRAS:
        return None
    return MissingPackageError(
        f"{what} needs the package {package}; "
        f"install it with: pip install 'forestcoll[{EXTRAS[package]}]'"
    )
