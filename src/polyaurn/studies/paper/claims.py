"""The claims of the paper's results, each with our measured value and a verdict by its rule."""

from typing import NamedTuple

from polyaurn.studies.paper import rules
from polyaurn.studies.paper.plan import PARTLY, SPARSE
from polyaurn.studies.paper.rules import Data, Rule

AGREES, DIFFERS, NOT_MEASURED = "agrees", "differs", "not measured"


class Claim(NamedTuple):
    """A sentence of the paper, and how it is judged."""

    text: str
    figure: str
    rule: str
    judge: Rule


class Verdict(NamedTuple):
    """A claim, what was measured, and whether it agrees."""

    text: str
    figure: str
    rule: str
    measured: str
    verdict: str


def judge_all(data: dict[str, Data]) -> list[Verdict]:
    """Judge every claim by the data of its figure, in the order of the paper."""
    found = []
    for claim in CLAIMS:
        judged = claim.judge(data[claim.figure])
        measured, verdict = (
            ("–", NOT_MEASURED) if judged is None
            else (judged[0], AGREES if judged[1] else DIFFERS)
        )  # fmt: skip
        found.append(Verdict(claim.text, claim.figure, claim.rule, measured, verdict))
    return found


CLAIMS = (
    Claim(
        "In all cases, Pólya Urn LDA was faster than partially collapsed LDA (but at K = 10).",
        "traces", "Time of all sweeps, partially collapsed over urn, above 1 everywhere.",
        rules.faster,
    ),
    Claim(
        "At K = 10 performance was nearly identical.", "traces",
        f"The same quotient at the smallest K between 1/{rules.NEARLY} and {rules.NEARLY}.",
        rules.same_at_few,
    ),
    Claim(
        "Per iteration, both algorithms look identical.", "traces",
        f"Largest gap of the mean curves at most {rules.IDENTICAL:.0%} of the climb, everywhere.",
        rules.identical,
    ),
    Claim(
        "Sampling Phi is uniformly faster by a factor of four to eight.", "phases",
        "Phi's time, partially collapsed over urn, from 4 to 8 everywhere.", rules.phi_factor,
    ),
    Claim(
        "As the number of topics increases, the relative speedup for z increases.", "phases",
        "The urn's z time over the partially collapsed one's falls from each K to the next.",
        rules.z_gains,
    ),
    Claim(
        "z is reduced by as much as 20% for K = 1000 when compared with K = 100 (PubMed).",
        "phases", "1 minus the quotient of relative z times, in the corpus where it is largest, "
        f"from {rules.Z_REDUCTION[0]:.0%} to {rules.Z_REDUCTION[1]:.0%}.", rules.z_reduction,
    ),
    Claim(
        "The sparsity of Phi increases with K for a fixed size corpus.", "phases",
        "The share of nonzeros is lower at the largest K than at the smallest.", rules.sparser,
    ),
    Claim(
        "Pólya Urn LDA is faster than partially collapsed, sparse AD-LDA and Light AD-LDA for "
        "both K = 100 and K = 1000 (New York Times).", "algorithms",
        "The urn is the first of the four at the level that all reach, at each K.",
        rules.first_of_four,
    ),
    Claim(
        "Both produce similar test set log-likelihoods.", "quality",
        f"Means differ by at most {rules.SIMILAR_LIKELIHOOD:.1%} of the level.",
        rules.similar("held_out", rules.SIMILAR_LIKELIHOOD),
    ),
    Claim(
        "Both produce, but for one outlier, similar topic coherence.", "quality",
        f"Means differ by at most {rules.SIMILAR_COHERENCE:.0%} of the level.",
        rules.similar("coherence", rules.SIMILAR_COHERENCE),
    ),
    Claim(
        "On a single core it outperforms partially collapsed LDA.", "cores",
        "Time of a sweep, the other over the urn, above 1 at each K.",
        rules.faster_on_one_core(PARTLY),
    ),
    Claim(
        "On a single core it outperforms fully collapsed sparse LDA.", "cores",
        "Time of a sweep, the other over the urn, above 1 at each K.",
        rules.faster_on_one_core(SPARSE),
    ),
    Claim(
        "It scales close to linearly with the number of cores.", "cores",
        f"Speedup at the most cores at least {rules.LINEAR:.0%} of their number.", rules.linear,
    ),
    Claim(
        "The relative difference is larger for high vocabulary sizes.", "sparsity",
        f"Partially collapsed over urn, at the largest V at least {rules.LARGER} times that at the "
        "smallest.", rules.gains("words", large_last=True),
    ),
    Claim(
        "The relative difference is larger for lower rare-word limits.", "sparsity",
        f"Partially collapsed over urn, at the lowest limit at least {rules.LARGER} times that "
        "at the highest.", rules.gains("limit", large_last=False),
    ),
    Claim(
        "The urn tends to the Dirichlet, likely at least as fast as one over the root.", "theory",
        f"The Kolmogorov distance falls as w to a power of at most {rules.ROOT}.", rules.converges,
    ),
    Claim(
        "A collapsed Gibbs sampler can be arbitrarily slower than an uncollapsed one.", "theory",
        "The factor of effective sizes is above 1 and grows with rho; the uncollapsed size stays "
        f"within {rules.UNTOUCHED:.0%}.", rules.uncollapsed_wins,
    ),
    Claim(
        "An iteration costs the sum of min(K_d, K_v).", "complexity",
        f"Counted work within {rules.COUNT:.0%} of the mean of min(K_d, K_v).", rules.work_counted,
    ),
    Claim(
        "The time of z follows that sum.", "complexity",
        f"It grows as the sum to a power of at most {rules.LARGER}.", rules.time_follows,
    ),
    Claim(
        "For a substantial number of words K_v is below K_d.", "complexity",
        f"At least {rules.SHORTER:.0%} of the tokens at the largest K.", rules.words_shorter,
    ),
)  # fmt: skip
