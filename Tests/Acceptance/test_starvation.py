"""Targets that hang take no capacity from those that do not."""

import pytest
import test_egress


def quantile(times, part):
    return sorted(times)[min(len(times) - 1, int(len(times) * part))]


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """How long each call to the healthy target took to arrive, in milliseconds. All have arrived, or this fails."""
    return test_egress.in_a_network_of_its_own("starving.py", tmp_path_factory.mktemp("starving"))


def test_a_healthy_target_is_served_beside_hundreds_that_hang(seen):
    assert len(seen["beside"]) == 100


# It compares times, and so needs a machine that does nothing else.
@pytest.mark.part("ratios")
def test_a_healthy_target_is_served_as_fast_as_alone(seen):
    alone, beside = quantile(seen["alone"], 0.99), quantile(seen["beside"], 0.99)
    assert beside < 2 * alone + 400, (alone, beside, quantile(seen["beside"], 1))
