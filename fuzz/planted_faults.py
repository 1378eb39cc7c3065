"""Wrong lines, and the tests that should notice each; `plant.py` plants and runs them.

The forty of `FAULTS` were chosen by reading the package only, before the tests, and spread over all
packages that compute something. Those of `KINDS` belong to the tests that were written for a kind
of fault: sizes, priors that differ, reported errors, limits. A text is that of one place of a file;
where the file changes, so must it.
"""

from typing import NamedTuple


class Fault(NamedTuple):
    """A fault: what is wrong in words, the file, its right text, the wrong one, and tests."""

    what: str
    file: str
    right: str
    wrong: str
    tests: tuple[str, ...]


REFERENCE = ("tests/backends/test_contract.py::test_same_bytes_as_the_reference",)
SCHEDULE = ("tests/chain/test_limits.py", "tests/chain/test_schedule.py")
KEEPS = "tests/laws/test_enumeration.py::test_a_sweep_keeps_the_posterior[{}]"

FAULTS = (
    Fault(
        "a growing start needs one sweep more than it says",
        "chain/schedule.py", "max_iter >= 2 * SWEEPS_PER_SHARE", "max_iter > 2 * SWEEPS_PER_SHARE",
        SCHEDULE,
    ),
    Fault(
        "learned beta ignores pseudo-counts in one of two terms",
        "chain/priors.py", "- digamma(pseudo + b))", "- digamma(b))",
        ("tests/chain/test_learning.py", "tests/training/test_seeds.py"),
    ),
    Fault(
        "tokens of blocks are counted in the order of the file",
        "chain/steps.py", "np.diff(layout.doc_ptr)[layout.documents]", "np.diff(layout.doc_ptr)",
        SCHEDULE,
    ),
    Fault(
        "all parts of a sweep draw Phi from the same random numbers",
        "chain/loop.py", "moment(state.sweep, part)", "moment(state.sweep, 0)",
        ("tests/survival/test_same_bytes.py",),
    ),
    Fault(
        "the search inside a piece of a row stops one topic too early",
        "backends/cpu/z.py", "    while s <= goal:", "    while s < goal:",
        (*REFERENCE, "tests/backends/test_columns.py"),
    ),
    Fault(
        "a word's proposal is accepted as if alpha were symmetric",
        "backends/cpu/z_mh.py", "(alpha[c] + m[c]) * alpha[k] / ((alpha[k] + m[k]) * alpha[c])",
        "(alpha[c] + m[c]) / (alpha[k] + m[k])",
        (KEEPS.format("asymmetric-partially-collapsed-mh"),),
    ),
    Fault(
        "a topic drawn again has as many balls as one without tokens",
        "backends/cpu/phi_urn.py", "rate = beta_all + n_k[empty[e]]", "rate = beta_all",
        (*REFERENCE, "tests/backends/test_plain.py"),
    ),
    Fault(
        "what one word loses is taken from the next words, too",
        "backends/cpu/counts.py", "            gone[old_topic[j]] = 0\n", "            pass\n",
        SCHEDULE,
    ),
    Fault(
        "the document's part is not rescaled when a topic grows",
        "backends/cpu/collapsed.py", "M += (m[k] + 1) * s - m[k] * share[k]", "M += s",
        ("tests/laws/test_collapsed_agree.py",),
    ),
    Fault(
        "a topic from the prior's part of a proposal counts as absent from the word",
        "backends/cpu/light.py", "n_c = _number(lo, hi, topic, number, c)", "n_c = np.int32(0)",
        (KEEPS.format("asymmetric-light"),),
    ),
    Fault(
        "a document proposes a token's own topic, and never that of the next one",
        "backends/cpu/proposals.py", "j + 1 if j >= i else j", "j + 1 if j > i else j",
        ("tests/backends/test_rivals.py",),
    ),
    Fault(
        "joining documents share random numbers with the z step",
        "backends/cpu/start.py", "Purpose.ENTER", "Purpose.PRIOR", SCHEDULE,
    ),
    Fault(
        "a sweep too few is averaged for new documents",
        "backends/cpu/fold_in.py", "if sweep >= burn_in:", "if sweep > burn_in:",
        ("tests/evaluate/test_held_out.py", "tests/model/test_vector_priors.py"),
    ),
    Fault(
        "sizes of topics lack the pseudo-counts when documents are folded in",
        "backends/documents.py", "sizes = np.asarray(mass.sum(axis=1)",
        "sizes = np.asarray(topic_word_counts.sum(axis=1)",
        ("tests/training/test_seeds.py", "tests/evaluate/test_held_out.py"),
    ),
    Fault(
        "the log posterior leaves the pseudo-counts out of the sizes of topics",
        "backends/cpu/log_posterior.py", "(beta_sum + pseudo_sizes(priors)).tolist()",
        "(beta_sum + 0.0 * pseudo_sizes(priors)).tolist()",
        ("tests/training/test_seeds.py", "tests/evaluate/test_diagnostics.py"),
    ),
    Fault(
        "a gamma draw of shape exactly one is one of shape two",
        "backends/variates.py", "if shape < 1.0 else plus(shape, -1.0 / 3.0)",
        "if shape <= 1.0 else plus(shape, -1.0 / 3.0)",
        ("tests/laws/test_variates.py", *REFERENCE),
    ),
    Fault(
        "large topics are compared by their rarest words",
        "model/distance.py", "np.argsort(-row, kind=", "np.argsort(row, kind=",
        ("tests/model/test_distance.py", "tests/model/test_topic_map.py"),
    ),
    Fault(
        "words as probable as the last one listed are lost",
        "model/leading_words.py", "np.flatnonzero(score >= least)",
        "np.flatnonzero(score > least)",
        ("tests/model/test_one_formula.py", "tests/model/test_tables.py"),
    ),
    Fault(
        "FREX's exclusivity has the prior of one topic for that of all",
        "model/tables/words.py", "model.priors.beta * inverse.sum()",
        "model.priors.beta * inverse.mean()", ("tests/model/test_tables.py",),
    ),
    Fault(
        "the entropy of a mixture leaves out topics without tokens",
        "model/tables/documents.py", " + (alpha * np.log(alpha)).sum()", "",
        ("tests/model/test_tables.py",),
    ),
    Fault(
        "shares of some topics have the alphas of the first ones",
        "model/tables/groups.py", "alpha[topics])", "alpha[: len(topics)])",
        ("tests/model/test_vector_priors.py", "tests/model/test_groups.py"),
    ),
    Fault(
        "merged topics lose their pseudo-counts",
        "model/tables/hierarchy.py", "V, pseudo=pseudo)", "V, pseudo=None)",
        ("tests/model/test_vector_priors.py", "tests/model/test_merging.py"),
    ),
    Fault(
        "a topic may be the nearest of itself",
        "model/topic_map.py", "distance + 2.0 * np.eye(K)", "distance + 0.5 * np.eye(K)",
        ("tests/model/test_topic_map.py",),
    ),
    Fault(
        "a time at the very last edge is in no bin",
        "model/dates.py", "at[there == edges[-1]] = len(edges) - 2\n", "pass\n",
        ("tests/model/test_dates.py", "tests/model/test_groups.py"),
    ),
    Fault(
        "sparse mixtures of new documents have the mean alpha for each topic",
        "model/inference.py", "mean.data + alpha[mean.indices]", "mean.data + alpha.mean()",
        ("tests/model/test_vector_priors.py", "tests/estimator/test_lda.py"),
    ),
    Fault(
        "a word enters a window one token early",
        "evaluate/windows.py", "t = max(0, i - width + 1)", "t = max(0, i - width)",
        ("tests/evaluate/test_coherence.py",),
    ),
    Fault(
        "the effective size leaves out the term after the last pair",
        "evaluate/convergence.py", "after = float(max(rho[2 * kept], 0.0))", "after = float(0.0)",
        ("tests/evaluate/test_posterior.py", "tests/evaluate/test_diagnostics.py"),
    ),
    Fault(
        "Phi of some topics is drawn with the sizes of the first ones",
        "evaluate/posterior/recorder.py", "rest = sizes[chosen.topics]",
        "rest = sizes[: len(chosen.topics)]", ("tests/evaluate/test_posterior.py",),
    ),
    Fault(
        "Heaps' law counts a word where it is last seen",
        "evaluate/diagnostics.py", "first_seen[corpus.word[::-1]] = position[::-1]",
        "first_seen[corpus.word] = position", ("tests/evaluate/test_diagnostics.py",),
    ),
    Fault(
        "a word in exactly the largest share of documents is dropped",
        "corpus/pruning.py", "drop(frequency > share * n,", "drop(frequency >= share * n,",
        ("tests/corpus/test_corpus.py",),
    ),
    Fault(
        "an import counts empty documents when it prunes",
        "corpus/conversion.py", "used = np.flatnonzero(lengths)", "used = np.arange(len(lengths))",
        ("tests/corpus/test_conversion.py",),
    ),
    Fault(
        "words of new documents stay in the order of another vocabulary",
        "corpus/known_words.py", "new[np.lexsort((new, document[known]))]", "new",
        ("tests/evaluate/test_held_out.py",),
    ),
    Fault(
        "the document at the end of a piece of a file is cut in two",
        "corpus/entries.py", "int(np.searchsorted(document, document[-1]))", "len(document)",
        ("tests/corpus/test_conversion.py", "tests/corpus/test_readers.py"),
    ),
    Fault(
        "absent seed words take their share of the strength",
        "training/seeds.py", "round(strength / len(known))", "round(strength / len(words))",
        ("tests/training/test_seeds.py",),
    ),
    Fault(
        "priors that differ after the seventh digit count as the same run",
        "training/checkpoints.py", 'np.asarray(prior, "<f8")', 'np.asarray(prior, "<f4")',
        ("tests/training/test_checkpoints.py", "tests/training/test_settings.py"),
    ),
    Fault(
        "seed words are used or fixed topics, not both",
        "training/run.py", "(sum(parts[1:], start=parts[0]) if parts else None)",
        "(parts[0] if parts else None)", ("tests/training/test_seeds.py",),
    ),
    Fault(
        "a prior larger than a word's weight is not lowered",
        "exchange/parts.py", "np.where(least >= prior * (1 - _ROUNDING), prior, least)",
        "prior + 0.0 * least", ("tests/exchange",),
    ),
    Fault(
        "numbers of topics are equal only within the best one's spread",
        "studies/topic_grid/summary.py", "<= max(spreads[K], spreads[top])", "<= spreads[top]",
        ("tests/studies/test_topic_grid.py",),
    ),
    Fault(
        "quarters begin in the last month of the one before",
        "model/dates.py", "(d[1] - 1) // 3", "d[1] // 3", ("tests/pages/test_report.py",),
    ),
    Fault(
        "of long documents the rarest words are shown",
        "pages/report/documents.py", "np.lexsort((word, topic, -count))",
        "np.lexsort((word, topic, count))",
        ("tests/pages/test_report.py",),
    ),
)  # fmt: skip

SIZES = "tests/backends/test_sizes.py"
PRIORS = ("tests/evaluate/test_posterior_priors.py",)
BARS = ("tests/evaluate/test_error_bars.py",)
LIMITS = ("tests/chain/test_limits.py",)
KINDS = (
    Fault(
        "a run of more than 65,535 tokens wraps",
        "backends/cpu/layout.py", "while v - before > most or left > most:",
        "while v - before > most:", (f"{SIZES}::test_a_word_of_more_than_65535_tokens_in_a_block",),
    ),
    Fault(
        "a very long document is put into a block",
        "backends/cpu/layout.py", "LONGEST = 65_535", "LONGEST = 1_000_000",
        (f"{SIZES}::test_a_document_of_150003_tokens_gives_the_bytes_of_the_reference",),
    ),
    Fault(
        "a long list of the prior's topics is not sorted",
        "backends/cpu/phi_urn.py", "if n_extra > MOST_INSERTED:", "if n_extra < 0:",
        (f"{SIZES}::test_many_balls_of_the_prior_are_sorted",),
    ),
    Fault(
        "topics after the first piece of tokens begin with its draws",
        "backends/cpu/start.py", "index = np.arange(lo, min(lo + _PIECE, len(z)))",
        "index = np.arange(min(_PIECE, len(z) - lo))",
        (f"{SIZES}::test_tokens_are_counted_and_begun_in_pieces",),
    ),
    Fault(
        "documents of later pieces are cut where those of the first are",
        "chain/state.py", "doc_ptr[lo : hi + 1] - doc_ptr[lo]),",
        "doc_ptr[: hi + 1 - lo] - doc_ptr[0]),",
        (f"{SIZES}::test_topics_of_documents_are_counted_in_pieces",),
    ),
    Fault(
        "a row too small to write down has the beta of the first word",
        "backends/cpu/phi_dirichlet.py", "logs[v] = log_gamma_draw(n + beta[v], a, b,",
        "logs[v] = log_gamma_draw(n + beta[0], a, b,", ("tests/backends/test_columns.py",),
    ),
    Fault(
        "a topic of very small alpha is never drawn",
        "backends/cpu/columns.py", "np.uint64(max(np.rint(w * ratio), 1.0))",
        "np.uint64(np.rint(w * ratio))", ("tests/backends/test_columns.py",),
    ),
    Fault(
        "draws of Theta have the alphas of the first chain's topics",
        "evaluate/posterior/recorder.py", "self._draw_theta(state, priors.alpha[self._order], rng)",
        "self._draw_theta(state, priors.alpha, rng)", PRIORS,
    ),
    Fault(
        "the mean of Theta has the alphas of the first chain's topics",
        "evaluate/posterior/result.py", "(1.0 / (lengths + p.alpha.sum()), p.alpha[self.order])",
        "(1.0 / (lengths + p.alpha.sum()), p.alpha)", PRIORS,
    ),
    Fault(
        "the mean of Phi has the pseudo-counts of the first chain's topics",
        "evaluate/posterior/result.py", "pseudo_sizes(p)[self.order]", "pseudo_sizes(p)", PRIORS,
    ),
    Fault(
        "alphas of draws are those of the first chain's topics",
        "evaluate/posterior/result.py", "[[p.alpha[c.order] for p in", "[[p.alpha for p in", PRIORS,
    ),
    Fault(
        "errors of documents are added as if they had one sign",
        "evaluate/held_out.py", "math.sqrt(math.fsum(error**2))", "math.fsum(error)",
        BARS,
    ),
    Fault(
        "the error per token falls as the root of the tokens",
        "evaluate/held_out.py", "return self.total_error / int(self.tokens.sum())",
        "return self.total_error / math.sqrt(int(self.tokens.sum()))", BARS,
    ),
    Fault(
        "the error of a document is too small by the root of its particles",
        "backends/cpu/fold_in.py", "np.sqrt((particles - 1) / particles * spread)",
        "np.sqrt((particles - 1) / particles * spread / particles)", BARS,
    ),
    Fault(
        "standard deviations in summaries are those of a mean",
        "evaluate/posterior/result.py", "float(draws.std(ddof=1)) if",
        "float(draws.std(ddof=1) / draws.size**0.5) if", BARS,
    ),
    Fault(
        "fixed strengths are shared with words that are absent",
        "training/seeds.py", "strength * p[here >= 0] / p[here >= 0].sum()",
        "strength * p[here >= 0] / p.sum()", ("tests/training/test_seeds.py",),
    ),
    Fault(
        "documents of one token are left out where alpha is learned",
        "chain/priors.py", "loss = (documents * (digamma",
        "loss = (documents * (lengths > 1) * (digamma", LIMITS,
    ),
    Fault(
        "the smooth start is a sweep too long",
        "chain/schedule.py", "smooth = sweep < self.smooth", "smooth = sweep <= self.smooth",
        LIMITS,
    ),
    Fault(
        "200 topics are too many for a smooth start",
        "chain/schedule.py", "n_topics <= MOST_SMOOTH_TOPICS", "n_topics < MOST_SMOOTH_TOPICS",
        LIMITS,
    ),
    Fault(
        "a checkpoint counts as written before it is",
        "training/checkpoints.py", "        halt = halt_of(state)\n        try:",
        "        halt = halt_of(state)\n        self._written = state.sweep\n        try:",
        ("tests/training/test_checkpoints.py",),
    ),
    Fault(
        "tokens of a worker are numbered from its own first one",
        "backends/sharded/shards.py", "_replace(first_token=piece.part.first_token)",
        "_replace(first_token=0)", ("tests/backends/test_sharded.py",),
    ),
    Fault(
        "cells with pseudo-counts are added up in another order on shards",
        "backends/sharded/steps.py", "order = np.lexsort((v, k))", "order = np.lexsort((k, v))",
        ("tests/backends/test_sharded.py",),
    ),
)  # fmt: skip
