"""Rules by which the paper's claims are judged: each can agree, differ and abstain."""

import pytest

from polyaurn.studies.paper import FIGURES, rules
from polyaurn.studies.paper.claims import judge_all
from polyaurn.studies.paper.plan import PARTLY, URN

AT = {"corpus": "kos", "topics": 100}
FEW, MORE = AT | {"topics": 10}, AT | {"topics": 1000}
LEVEL = {"difference": -0.004, "p": 0.01}
FOUR = ("partially collapsed", "sparse AD-LDA", "Light AD-LDA")


def raced(urn):
    samplers = {name: {"seconds_to_level": 2.0} for name in FOUR}
    return {"rows": [AT | {"samplers": samplers | {"urn": {"seconds_to_level": urn}}}]}


@pytest.mark.parametrize(
    ("rule", "agreeing", "differing"),
    [
        (
            rules.faster,
            {"rows": [FEW | {"time_ratio": 0.9}, AT | {"time_ratio": 1.1}]},
            {"rows": [FEW | {"time_ratio": 3.0}, AT | {"time_ratio": 0.9}]},
        ),
        (
            rules.same_at_few,
            {"rows": [FEW | {"time_ratio": 0.9}, AT | {"time_ratio": 9.0}]},
            {"rows": [FEW | {"time_ratio": 1.3}, AT | {"time_ratio": 1.0}]},
        ),
        (
            rules.identical,
            {"rows": [FEW | {"gap": 0.01}, AT | {"gap": 0.02}]},
            {"rows": [FEW | {"gap": 0.01}, AT | {"gap": 0.03}]},
        ),
        (
            rules.phi_factor,
            {"rows": [FEW | {"phi_ratio": 1 / 4}, AT | {"phi_ratio": 1 / 8}]},
            {"rows": [FEW | {"phi_ratio": 1 / 5}, AT | {"phi_ratio": 1 / 20}]},
        ),
        (
            rules.z_gains,
            {"rows": [AT | {"z_ratio": 0.5}, FEW | {"z_ratio": 0.9}, MORE | {"z_ratio": 0.2}]},
            {"rows": [AT | {"z_ratio": 0.95}, FEW | {"z_ratio": 0.9}, MORE | {"z_ratio": 0.2}]},
        ),
        (
            rules.z_reduction,
            {"rows": [AT | {"z_ratio": 0.5}, MORE | {"z_ratio": 0.4}]},
            {"rows": [AT | {"z_ratio": 0.5}, MORE | {"z_ratio": 0.1}]},
        ),
        (
            rules.sparser,
            {"rows": [FEW | {"nonzero_share": 0.5}, AT | {"nonzero_share": 0.1}]},
            {"rows": [FEW | {"nonzero_share": 0.1}, AT | {"nonzero_share": 0.5}]},
        ),
        (rules.first_of_four, raced(1.0), raced(3.0)),
        (
            rules.similar("held_out", 0.005),
            {"rows": [AT | {"held_out": LEVEL}, FEW | {"held_out": None}]},
            {"rows": [AT | {"held_out": LEVEL | {"difference": 0.006}}]},
        ),
        (
            rules.faster_on_one_core(PARTLY),
            {"single": [AT | {"samplers": {URN: 1.0, PARTLY: 1.5}}]},
            {"single": [AT | {"samplers": {URN: 1.0, PARTLY: 0.5}}]},
        ),
        (
            rules.linear,
            {"scaling": [AT | {"cores": [1, 8], "speedup": [1, 6], "efficiency": [1, 0.75]}]},
            {"scaling": [AT | {"cores": [1, 8], "speedup": [1, 4], "efficiency": [1, 0.5]}]},
        ),
        (
            rules.gains("words", large_last=True),
            {"words": [{"ratio": 2.0, "value": 500}, {"ratio": 3.0, "value": 5000}]},
            {"words": [{"ratio": 2.0, "value": 500}, {"ratio": 2.0, "value": 5000}]},
        ),
        (
            rules.gains("limit", large_last=False),
            {"limit": [{"ratio": 3.0, "value": 1}, {"ratio": 2.0, "value": 100}]},
            {"limit": [{"ratio": 2.0, "value": 1}, {"ratio": 3.0, "value": 100}]},
        ),
        (rules.converges, {"slopes": {"F": -0.5}}, {"slopes": {"F": -0.5, "G": -0.1}}),
        (
            rules.uncollapsed_wins,
            {"appendix": [{"rho": 0.9, "collapsed": 50.0, "uncollapsed": 100.0},
                          {"rho": 0.99, "collapsed": 5.0, "uncollapsed": 95.0}]},
            {"appendix": [{"rho": 0.9, "collapsed": 50.0, "uncollapsed": 100.0},
                          {"rho": 0.99, "collapsed": 5.0, "uncollapsed": 50.0}]},
        ),
        (
            rules.work_counted,
            {"rows": [AT | {"counted": 5.1, "minimum": 5.0}]},
            {"rows": [AT | {"counted": 6.0, "minimum": 5.0}]},
        ),
        (rules.time_follows, {"time_power": 0.8}, {"time_power": 1.4}),
        (
            rules.words_shorter,
            {"rows": [FEW | {"shorter": 0.0}, MORE | {"shorter": 0.4}]},
            {"rows": [FEW | {"shorter": 0.5}, MORE | {"shorter": 0.05}]},
        ),
    ],
)  # fmt: skip
def test_rules_can_agree_differ_and_abstain(rule, agreeing, differing):
    assert rule(agreeing)[1] is True
    assert rule(differing)[1] is False
    nothing = {name: [] if isinstance(value, list) else None for name, value in agreeing.items()}
    assert rule(nothing) is None


def test_what_is_not_measured_is_said():
    empty = {
        "rows": [], "single": [], "scaling": [], "limit": [], "words": [], "size": [],
        "slopes": None, "appendix": None, "time_power": None,
    }  # fmt: skip
    verdicts = judge_all(dict.fromkeys(FIGURES, empty))
    assert {verdict.verdict for verdict in verdicts} == {"not measured"}
    assert {verdict.measured for verdict in verdicts} == {"–"}


def test_faster_than_claimed_is_said_and_still_differs():
    measured, agrees = rules.phi_factor({"rows": [AT | {"phi_ratio": 1 / 20}]})
    assert not agrees
    assert "never less than four times, but more than eight" in measured
