import numpy as np
import pytest

from polyaurn import InputError
from polyaurn.base import checks
from polyaurn.base.arrays import positive_vector
from polyaurn.base.rng import check_seed
from polyaurn.base.threads import count_threads


@pytest.mark.parametrize(
    ("check", "value", "expected"),
    [
        (checks.check_whole, np.int64(3), 3),
        (checks.check_whole, np.uint8(3), 3),
        (checks.check_number, np.float32(0.5), 0.5),
        (checks.check_number, np.int16(2), 2.0),
        (checks.check_fraction, np.float64(1.0), 1.0),
        (check_seed, np.int32(7), 7),
        (count_threads, np.int64(2), 2),
        (checks.check_flag, np.False_, False),
        (checks.check_flag, 1, True),
    ],
)
def test_numpy_numbers_become_plain_numbers(check, value, expected):
    found = check(value, "x")
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("check", "value", "says"),
    [
        (checks.check_whole, 2.0, "must be a whole number, at least 1. Got 2.0 instead."),
        (checks.check_whole, True, "must be a whole number"),
        (checks.check_whole, 0, "must be a whole number, at least 1. Got 0 instead."),
        (checks.check_number, "1", "must be a positive number. Got '1' instead."),
        (checks.check_number, float("nan"), "must be a positive number"),
        (checks.check_number, True, "must be a positive number"),
        (checks.check_fraction, 1.5, "must be a number from 0 to 1"),
        (checks.check_path, 3, "must be a path"),
        (checks.check_flag, "no", "must be True or False. Got 'no' instead."),
        (checks.check_flag, 1.0, "must be True or False"),
        (checks.check_flag, None, "must be True or False"),
        (check_seed, 0.5, "must be an integer, None or a NumPy generator. Got 0.5 instead; give"),
        (check_seed, -1, "must not be negative"),
        (count_threads, 0, "must be a positive number of threads, or -1 for all cores. Got 0"),
    ],
)
def test_other_values_raise_one_sentence(check, value, says):
    with pytest.raises(InputError) as caught:
        check(value, "x")
    assert str(caught.value).startswith("The 'x' parameter must")
    assert says in str(caught.value)


def test_a_positive_number_or_vector_becomes_a_read_only_vector():
    assert positive_vector(0.5, 3, "x", "topics").tolist() == [0.5] * 3
    found = positive_vector(np.array([1, 2], np.float32), 2, "x", "topics")
    assert found.tolist() == [1.0, 2.0]
    assert not found.flags.writeable
    for bad in (None, "a", [1.0], [[1.0, 2.0]], [1.0, -1.0], [1.0, np.inf]):
        with pytest.raises(InputError, match="one for each of the topics"):
            positive_vector(bad, 2, "x", "topics")


def test_digits_are_plain_and_few():
    from polyaurn.base.checks import is_digits

    assert is_digits("0")
    assert is_digits("120")
    assert not any(map(is_digits, ("", "-1", "²", "٣", "9" * 19, "1 ")))
