"""Finite fields, by their laws."""

import itertools

import pytest

from forestcoll.topology.families.fabric.galois_fields import GaloisField, prime_power


@pytest.mark.parametrize("q", [2, 3, 4, 5, 7, 8, 9, 16])
def test_the_laws_of_a_field(q):
    """Powers of one element are all but 0; sums and products commute and distribute."""
    field = GaloisField.of(q)
    assert sorted(field.powers) == list(range(1, q))
    for a, b, c in itertools.product(range(q), repeat=3):
        assert field.plus(a, b) == field.plus(b, a)
        assert field.times(a, b) == field.times(b, a)
        assert field.minus(field.plus(a, b), b) == a
        assert field.times(a, field.plus(b, c)) == field.plus(field.times(a, b), field.times(a, c))


def test_a_prime_field_is_arithmetic_modulo_the_prime():
    field = GaloisField.of(7)
    for a, b in itertools.product(range(7), repeat=2):
        assert field.plus(a, b) == (a + b) % 7
        assert field.times(a, b) == a * b % 7


def test_four_elements_are_not_numbers_modulo_four():
    """1 + 1 = 0, and x times x = x + 1 (2 times 2 = 3)."""
    field = GaloisField.of(4)
    assert (field.plus(1, 1), field.times(2, 2)) == (0, 3)


def test_prime_powers():
    found = [q for q in range(30) if prime_power(q)]
    assert found == [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29]
    with pytest.raises(ValueError, match="6 is no prime power"):
        GaloisField.of(6)
