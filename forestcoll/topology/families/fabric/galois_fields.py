"""Finite fields by tables: elements are numbers, the digits of a polynomial in base p.

Problem: Slim Fly networks are drawn with the numbers of a finite field of q elements.
Input:   a prime power q.
Output:  sums, differences, products, and the powers of a primitive element.
Cost:    q^2 steps for each of the at most q polynomials tried.
Source:  textbooks; x is a primitive element modulo a primitive polynomial, found by trial.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

__all__ = ["GaloisField", "prime_power"]


def prime_power(q: int) -> tuple[int, int] | None:
    """Return the prime and the exponent of a prime power, or None.

    Examples
    --------
    >>> prime_power(9), prime_power(7), prime_power(12)
    ((3, 2), (7, 1), None)
    """
    if q < 2:
        return None
    prime = next(p for p in count(2) if q % p == 0)
    exponent = 0
    while q % prime == 0:
        q //= prime
        exponent += 1
    return (prime, exponent) if q == 1 else None


@dataclass(frozen=True, slots=True)
class GaloisField:
    """The field of q elements.

    Parameters
    ----------
    prime, exponent : int
        q is the prime to this exponent.
    powers : tuple of int
        The powers 0 to q - 2 of a primitive element: all elements but 0.
    """

    prime: int
    exponent: int
    powers: tuple[int, ...]

    @classmethod
    def of(cls, q: int) -> GaloisField:
        """Make the field of q elements; ValueError if q is no prime power."""
        found = prime_power(q)
        if found is None:
            raise ValueError(f"{q} is no prime power")
        prime, exponent = found
        for rest in range(1, q):
            powers = _powers(prime, exponent, rest)
            if len(powers) == q - 1:
                return cls(prime, exponent, powers)
        raise AssertionError("every finite field has a primitive element")

    def minus(self, a: int, b: int) -> int:
        """Subtract digit by digit."""
        return sum(
            (x - y) % self.prime * self.prime**i
            for i, (x, y) in enumerate(zip(self._digits(a), self._digits(b), strict=True))
        )

    def plus(self, a: int, b: int) -> int:
        """Add digit by digit."""
        return self.minus(a, self.minus(0, b))

    def times(self, a: int, b: int) -> int:
        """Multiply by adding exponents."""
        if not a or not b:
            return 0
        exponent = self.powers.index(a) + self.powers.index(b)
        return self.powers[exponent % len(self.powers)]

    def _digits(self, number: int) -> list[int]:
        return [number // self.prime**i % self.prime for i in range(self.exponent)]


def _powers(prime: int, exponent: int, rest: int) -> tuple[int, ...]:
    """Return the powers of x until one repeats, if x^exponent is the polynomial ``rest``."""
    q = prime**exponent
    rest_digits = [rest // prime**i % prime for i in range(exponent)]
    found, power = [1], 1
    while True:
        # Times x: all digits move up by one, and the highest becomes so many times the rest.
        top, low = divmod(power * prime, q)
        digits = [low // prime**i % prime for i in range(exponent)]
        power = sum(
            (d + top * r) % prime * prime**i
            for i, (d, r) in enumerate(zip(digits, rest_digits, strict=True))
        )
        if power in (0, 1) or len(found) >= q:
            return tuple(found) if power == 1 else ()
        found.append(power)
