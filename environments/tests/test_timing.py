# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
import math
import random

import pytest
import timing


def test_spread_by_hand():
    # Median 3, absolute deviations 2 1 0 1 7, their median 1.
    assert timing.spread([1, 2, 3, 4, 10]) == pytest.approx(1.4826)
    assert timing.spread([5]) == 0 and timing.spread([]) == 0
    assert timing.spread([2, 2, 2]) == 0


def test_summary_by_hand():
    e = math.e
    s = timing.summarize([timing.Pair(e * 2, 2), timing.Pair(e**2 * 4, 4), timing.Pair(e**4 * 3, 3)])
    assert s.n == 3
    assert s.reference_ms == 3
    assert s.submission_ms == pytest.approx(e**2 * 4)  # of 5.4, 29.6 and 163.8
    assert s.log_ratio == pytest.approx(2)  # of 1, 2, 4
    assert s.spread == pytest.approx(1.4826)  # deviations 1, 0, 2
    assert s.standard_error == pytest.approx(1.4826 * math.sqrt(math.pi / 2) / math.sqrt(3))


def test_spread_estimates_a_normal_standard_deviation():
    rng = random.Random(1)
    assert timing.spread([rng.gauss(0, 0.3) for _ in range(20001)]) == pytest.approx(0.3, rel=0.05)


@pytest.mark.parametrize("pairs", [[], [timing.Pair(0, 1)], [timing.Pair(1, -1)], [timing.Pair(math.nan, 1)], [timing.Pair(1, math.inf)]])
def test_summary_refuses(pairs):
    with pytest.raises(ValueError):
        timing.summarize(pairs)


CALIBRATION = {"reference": {"median": math.log(3.0)}, "start": {"median": math.log(9.0)}}


def test_corrected_raw_does_not_see_the_speed_of_the_machine():
    rng = random.Random(2)
    pairs = [timing.Pair(5 * rng.uniform(0.9, 1.1), 3 * rng.uniform(0.9, 1.1)) for _ in range(21)]
    raw = timing.corrected_raw(timing.summarize(pairs), CALIBRATION)
    # Twice slower from the tenth pair on: nothing changes, while uncorrected it would by up to 0.69.
    slowed = [timing.Pair(p.submission_ms * 2, p.reference_ms * 2) if i >= 10 else p for i, p in enumerate(pairs)]
    assert timing.corrected_raw(timing.summarize(slowed), CALIBRATION) == pytest.approx(raw)
    assert timing.corrected_raw(timing.summarize(slowed), None) == math.log(timing.summarize(slowed).submission_ms)


def test_the_reference_scores_its_calibration():
    pairs = [timing.Pair(4.0, 4.0)] * 3
    assert timing.corrected_raw(timing.summarize(pairs), CALIBRATION) == pytest.approx(math.log(3))
    assert timing.drift(timing.summarize(pairs), CALIBRATION) == pytest.approx(math.log(4 / 3))
    assert timing.drift(timing.summarize(pairs), None) is None


@pytest.mark.parametrize("median", [None, "1", math.nan, True])
def test_a_broken_calibration_is_an_error(median):
    with pytest.raises(ValueError):
        timing.reference_raw({"reference": {"median": median}})


def test_batches_follow_the_reference_alone():
    times = iter([4.0] * 3 + [3.3] * 3 + [3.1] * 3)  # drifts 0.29, 0.095, 0.033
    asked = []

    def measure(i):
        asked.append(i)
        return timing.Pair(1.0, next(times))

    batches = timing.paired(measure, 3, CALIBRATION, max_drift=0.05, batches=5)
    assert [b[0].reference_ms for b in batches] == [4.0, 3.3, 3.1]
    assert asked == list(range(9))


def test_drift_is_an_error_not_a_score():
    with pytest.raises(timing.Drifted, match="1.333, 1.333"):
        timing.paired(lambda i: timing.Pair(1.0, 4.0), 3, CALIBRATION, max_drift=0.05, batches=2)
    with pytest.raises(timing.Drifted):  # faster is drift as well
        timing.paired(lambda i: timing.Pair(1.0, 2.8), 3, CALIBRATION, max_drift=0.05)
    assert len(timing.paired(lambda i: timing.Pair(1.0, 4.0), 3, CALIBRATION, max_drift=None)) == 1
    assert len(timing.paired(lambda i: timing.Pair(1.0, 4.0), 3, None, max_drift=0.05)) == 1
    with pytest.raises(ValueError):
        timing.paired(lambda i: timing.Pair(1.0, 4.0), 0)
