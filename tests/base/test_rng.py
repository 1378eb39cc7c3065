import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtri

from polyaurn import InputError
from polyaurn.backends import variates
from polyaurn.base.rng import Key, Purpose, below, bits, check_seed, key, open_unit, unit
from support.p_values import UNLIKELY, chi_square_p

KEY = key(5, 7, Purpose.Z)


def test_compiled_bits_are_the_same_bits():
    index = np.array([0, 1, 2, 65535, 2**32, 2**47 + 3, 2**62])
    assert [int(variates.bits(*KEY, i)) for i in index] == bits(KEY, index).tolist()
    for r in bits(KEY, index):
        assert variates.unit(r) == unit(r)
        assert variates.open_unit(r) == open_unit(r)
        assert variates.below(r, 1000) == below(r, 1000)


def test_bits_never_change():
    """Models made today must be repeatable by later versions."""
    assert bits(key(0, 0, Purpose.Z), [0, 1]).tolist() == [8404395539228810322, 2864521831860661093]


def uniformity(draw):
    """Smallest p-value over what sampling relies on: each bit, bytes, neighbours, keys, lags."""
    n = 1 << 17
    r = draw(KEY, np.arange(n))
    other = draw(key(5, 8, Purpose.Z), np.arange(n))
    p = []
    for values in (r, r ^ other, r[1:] ^ r[:-1], r[64:] ^ r[:-64]):
        ones = np.unpackbits(values.view(np.uint8)).reshape(len(values), 64).sum(axis=0)
        z = (ones - len(values) / 2) / np.sqrt(len(values) / 4)
        p.append(stats.chi2.sf((z**2).sum(), 64))
        for shift in (0, 24, 56):
            byte = (values >> np.uint64(shift)) & np.uint64(255)
            p.append(chi_square_p(np.bincount(byte.astype(int), minlength=256), np.ones(256) / 256))
    pairs = (r[1:] >> np.uint64(60)) * np.uint64(16) + (r[:-1] >> np.uint64(60))
    p.append(chi_square_p(np.bincount(pairs.astype(int), minlength=256), np.ones(256) / 256))
    return min(p)


def test_bits_are_uniform_and_independent_of_neighbours():
    assert uniformity(bits) > UNLIKELY


def test_uniformity_test_sees_a_weak_generator():
    def weyl_only(key, index):
        with np.errstate(over="ignore"):
            return index.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + key.a

    assert uniformity(weyl_only) < UNLIKELY / 1e6


def test_no_two_keys_coincide_under_shift():
    """A second key whose first word is one step further would repeat plain SplitMix64."""
    a, b = KEY
    with np.errstate(over="ignore"):
        shifted = Key(a + np.uint64(0x9E3779B97F4A7C15), b + np.uint64(1))
    assert not np.isin(bits(shifted, np.arange(999)), bits(KEY, np.arange(1000))).any()


def test_keys_differ_by_every_part_of_the_address():
    keys = [key(s, t, p) for s in (0, 1, 11) for t in (0, 1, 10) for p in Purpose]
    assert len({(int(k.a), int(k.b)) for k in keys}) == len(keys)


def test_normal_quantiles_are_exact_to_rounding():
    u = np.concatenate((np.geomspace(1e-300, 0.5, 400), 1 - np.geomspace(1e-16, 0.5, 400)))
    ours = np.array([variates.normal(x) for x in u])
    assert np.allclose(ours, ndtri(u), rtol=1e-13, atol=1e-15)


def test_seeds():
    assert check_seed(np.int64(3)) == 3
    assert check_seed(None) != check_seed(None)
    assert check_seed(np.random.default_rng(0)) == check_seed(np.random.default_rng(0))
    assert check_seed(np.random.RandomState(0)) == check_seed(np.random.RandomState(0))
    for bad in (-1, 1.5, "x", True):
        with pytest.raises(InputError, match="'random_state' parameter must"):
            check_seed(bad)
