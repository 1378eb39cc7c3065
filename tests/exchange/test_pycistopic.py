"""Files for pycisTopic: the schema to the letter, orders, and what has no place in them."""

import json
import warnings
import weakref
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from polyaurn import LDA, Corpus, InputError, datasets, evaluate, load
from polyaurn.exchange import pycistopic, write_pycistopic

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
from pyarrow import parquet  # noqa: E402

KEYS = ["n_topics", "alpha", "alpha_by_topic", "eta", "eta_by_topic", "n_cpu", "optimize_interval",
        "iterations", "random_seed", "mallet_path", "time", "mallet_cmd"]  # fmt: skip
K = 3


@pytest.fixture(scope="module")
def cells():
    """Return cells and regions in an order that is not alphabetical."""
    drawn = datasets.generate(n_documents=30, n_words=40, n_topics=3, random_state=0)
    regions = [f"chr{9 - v % 9}:{v}-{v + 5}" for v in range(40)]
    names = [f"cell-{99 - d}" for d in range(30)]
    return Corpus(drawn.doc_ptr, drawn.word, regions, names)


def trained(corpus, **more):
    options = {"doc_topic_prior": "50/K", "topic_word_prior": 0.1, "learn_priors_every": 0,
               "average_draws": 1, "random_state": 4, "max_iter": 7, "verbose": False}  # fmt: skip
    return LDA(K, **options | more).fit(corpus).model_


def read(prefix, k=K):
    begin = f"{prefix}.{k}_topics"
    cell = parquet.read_table(f"{begin}.cell_topic_probabilities.parquet")
    region = parquet.read_table(f"{begin}.region_topic_counts.parquet")
    return cell, region, json.loads(Path(f"{begin}.parameters.json").read_text())


def matrix(table):
    return np.array(table.column(0).to_pylist())


@pytest.mark.parametrize("at_once", [1, 1 << 24])
def test_the_schema_to_the_letter(cells, tmp_path, monkeypatch, at_once):
    monkeypatch.setattr(pycistopic, "_ROWS_AT_ONCE", at_once)
    model = trained(cells)
    files = write_pycistopic(model, tmp_path / "out")
    assert [file.name for file in files] == [
        "out.3_topics.cell_topic_probabilities.parquet",
        "out.3_topics.region_topic_counts.parquet",
        "out.3_topics.parameters.json",
    ]
    assert sorted(tmp_path.iterdir()) == sorted(files)
    cell, region, facts = read(tmp_path / "out")
    assert cell.schema == pa.schema(
        [("cell_topic_probabilities", pa.list_(pa.field("element", pa.float32()), K))]
    )
    assert region.schema == pa.schema(
        [("region_topic_counts", pa.list_(pa.field("element", pa.int32()), 40))]
    )
    assert (cell.num_rows, region.num_rows) == (30, K)
    assert np.array_equal(matrix(cell), model.doc_topics().astype(np.float32))
    assert np.array_equal(matrix(region), model.topic_word_counts.toarray())
    assert list(facts) == KEYS
    kinds = [int, float, bool, float, bool, int, int, int, int, str, float, list]
    assert [type(value) for value in facts.values()] == kinds
    assert (facts["n_topics"], facts["alpha"], facts["alpha_by_topic"]) == (K, 50.0, True)
    assert (facts["eta"], facts["eta_by_topic"], facts["optimize_interval"]) == (0.1, False, 0)
    assert (facts["iterations"], facts["random_seed"]) == (7, 4)
    assert all(isinstance(word, str) for word in facts["mallet_cmd"])


def test_polars_reads_matrices_of_two_dimensions(cells, tmp_path):
    """pycisTopic takes the columns as they come from polars."""
    pl = pytest.importorskip("polars", reason="polars is not installed")
    model = trained(cells)
    write_pycistopic(model, tmp_path / "out")
    for name, shape, dtype in (
        ("cell_topic_probabilities", (30, K), np.float32),
        ("region_topic_counts", (K, 40), np.int32),
    ):
        frame = pl.read_parquet(tmp_path / f"out.3_topics.{name}.parquet")
        assert frame.columns == [name]
        found = frame.get_column(name).to_numpy()
        assert (found.shape, found.dtype) == (shape, dtype)
        pl.Series(name, found).to_frame().write_parquet(tmp_path / "theirs.parquet")
        ours, theirs = (
            parquet.ParquetFile(tmp_path / file).schema_arrow
            for file in (f"out.3_topics.{name}.parquet", "theirs.parquet")
        )
        assert ours == theirs
        assert ours.field(0).type.value_field.name == theirs.field(0).type.value_field.name


def test_dropped_cells_and_regions_have_their_places(cells, tmp_path):
    dense = cells.to_matrix().toarray()
    dense[[0, 13]] = 0
    whole = Corpus.from_matrix(dense, cells.vocab, doc_names=cells.doc_names)
    kept = whole.prune(min_df=0.2)
    assert 0 < kept.n_words < 40
    kept = kept.select(np.diff(kept.doc_ptr) > 0)
    assert kept.n_documents < 30
    model = trained(kept, average_draws="auto", max_iter=30)
    assert model.averaged_draws > 1
    with pytest.raises(InputError, match="'corpus' parameter must be given for this model"):
        write_pycistopic(model, tmp_path / "out")
    assert not list(tmp_path.iterdir())
    with pytest.warns(UserWarning, match="2 of 30 cells have no region that the model knows; the"):
        write_pycistopic(model, tmp_path / "out", whole)
    cell, region, _ = (matrix(t) if i < 2 else t for i, t in enumerate(read(tmp_path / "out")))
    assert (cell.shape, region.shape) == ((30, K), (K, 40))
    assert cell[0] == pytest.approx(np.full(K, 1 / K))
    there = [cells.doc_names.index(name) for name in kept.doc_names]
    assert np.array_equal(cell[there], model.doc_topics().astype(np.float32))
    counts = np.zeros((K, 40), int)
    number = [cells.vocab.index(word) for word in kept.vocab]
    np.add.at(counts, (model.assignments, np.array(number)[kept.word]), 1)
    assert np.array_equal(region, counts)
    with pytest.raises(InputError, match="must have the regions of the model"):
        write_pycistopic(
            model, tmp_path / "b", Corpus.from_matrix(dense, doc_names=cells.doc_names)
        )
    other = Corpus.from_matrix(dense + 1, cells.vocab, doc_names=cells.doc_names)
    with pytest.raises(InputError, match="must be what the model was trained on"):
        write_pycistopic(model, tmp_path / "b", other)


@pytest.mark.parametrize("at_once", [1, 10, 1 << 24])
def test_mixtures_of_cells_that_were_held_out_are_inferred(cells, tmp_path, monkeypatch, at_once):
    """They are those that `transform` gives, and not all alike."""
    monkeypatch.setattr(pycistopic, "_ROWS_AT_ONCE", at_once)
    dense = cells.to_matrix().toarray()
    dense[[3, 8]] = 0  # one that is trained on, and one that is not
    whole = Corpus.from_matrix(dense, cells.vocab, doc_names=cells.doc_names)
    there, held = [*range(7), *range(11, 30)], [7, 9, 10]
    with pytest.warns(UserWarning, match="1 of 26 documents is empty"):
        model = trained(whole.select(there).prune(min_df=0.2), max_iter=30)
    assert len(model.vocab) < 40
    with (
        pytest.warns(UserWarning, match="3 of 30 cells are not those that the model was trained"),
        pytest.warns(UserWarning, match="2 of 30 cells have no region that the model knows"),
    ):
        write_pycistopic(model, tmp_path / "out", whole)
    mixtures = matrix(read(tmp_path / "out")[0])
    assert np.array_equal(mixtures[there], model.doc_topics().astype(np.float32))
    assert np.array_equal(mixtures[held], model.transform(whole.select(held)).astype(np.float32))
    assert np.ptp(mixtures[held], axis=1).min() > 0.01
    assert mixtures[[3, 8]] == pytest.approx(np.full((2, K), 1 / K))


@pytest.mark.parametrize("draws", [1, 5])
@pytest.mark.parametrize("numbered", [False, True])
def test_cells_and_regions_in_another_order(cells, tmp_path, draws, numbered):
    """Files have the order of the matrix that is named, though it has as many of both."""
    rng = np.random.default_rng(5)
    cell, region = np.arange(30) if numbered else rng.permutation(30), rng.permutation(40)
    dense = cells.to_matrix().toarray()[np.ix_(cell, region)]
    there = Corpus.from_matrix(
        dense,
        [cells.vocab[v] for v in region],
        doc_names=() if numbered else [cells.doc_names[d] for d in cell],
    )
    model = trained(cells, average_draws=draws, max_iter=20)
    assert model.averaged_draws == draws
    write_pycistopic(model, tmp_path / "out", there)
    mixtures, counts, _ = read(tmp_path / "out")
    assert np.array_equal(matrix(mixtures), model.doc_topics()[cell].astype(np.float32))
    assert np.array_equal(matrix(counts).sum(axis=0), dense.sum(axis=0))
    for v, name in enumerate(there.vocab):
        z = model.assignments[cells.word == cells.vocab.index(name)]
        assert np.array_equal(matrix(counts)[:, v], np.bincount(z, minlength=K))


def test_cells_of_the_same_name_cannot_be_found(cells, tmp_path):
    model = trained(cells)
    twice = ["same", "same", *cells.doc_names[2:]]
    with pytest.raises(InputError, match="must have different names for its cells"):
        write_pycistopic(model, tmp_path / "out", replace(cells, doc_names=twice))


def test_priors_of_several_numbers_are_flattened_with_a_warning(cells, tmp_path):
    model = trained(cells, doc_topic_prior=[0.5, 1.0, 1.5])
    with pytest.warns(UserWarning, match=r"alpha from 0.5 to 1.5, .* their sum is written"):
        write_pycistopic(model, tmp_path / "out")
    facts = read(tmp_path / "out")[2]
    assert facts["alpha"] == pytest.approx(3.0)
    assert "--alpha 1.0" in " ".join(facts["mallet_cmd"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write_pycistopic(model, tmp_path / "out", flatten_priors=True, force=True)
    plain = trained(cells)
    several = plain.priors._replace(beta=np.linspace(0.1, 0.3, 40))
    with pytest.warns(UserWarning, match=r"eta from 0.1 to 0.3, .* their mean is written"):
        write_pycistopic(replace(plain, priors=several), tmp_path / "b")
    assert read(tmp_path / "b")[2]["eta"] == pytest.approx(0.2)


def test_seeded_topics_are_rejected_or_written_without_their_seeds(cells, tmp_path):
    seeded = trained(cells, seed_words={0: [cells.vocab[0]]})
    with pytest.raises(InputError, match="pycisTopic has no pseudo-counts"):
        write_pycistopic(seeded, tmp_path / "out")
    assert not list(tmp_path.iterdir())
    write_pycistopic(seeded, tmp_path / "out", flatten_priors=True)
    assert matrix(read(tmp_path / "out")[1]).sum() == cells.n_tokens


def test_measures_of_the_files_are_those_of_the_model_with_eta_and_one_draw(cells, tmp_path):
    """pycisTopic leaves eta out of topics; see docs/single_cell.md."""
    lengths = np.diff(cells.doc_ptr)
    for draws in (1, 5):
        model = trained(cells, average_draws=draws, max_iter=20)
        write_pycistopic(model, tmp_path / "out", cells, force=True)
        theta, counts = (matrix(table).astype(float) for table in read(tmp_path / "out")[:2])
        found = {}
        for eta in (0.0, 0.1):
            topics = (counts + eta) / (counts + eta).sum(axis=1, keepdims=True)
            unit = topics / np.linalg.norm(topics, axis=1, keepdims=True)
            values = np.linalg.svd(topics, compute_uv=False)
            p, q = values / values.sum(), np.sort(lengths @ theta)[::-1] / lengths.sum()
            cao = (unit @ unit.T)[np.triu_indices(K, 1)].mean()
            found[eta] = [((p - q) * np.log(p / q)).sum(), cao]
        ours = [evaluate.arun_2010(model), evaluate.cao_juan_2009(model)]
        assert found[0.0] != pytest.approx(ours, rel=1e-4)
        assert (found[0.1] == pytest.approx(ours, rel=1e-4)) == (draws == 1)


def test_files_that_are_there_stay(cells, tmp_path):
    model = trained(cells)
    there = tmp_path / "out.3_topics.parameters.json"
    there.write_text("mine")
    with pytest.raises(InputError, match="must be a new name"):
        write_pycistopic(model, tmp_path / "out")
    assert [p.name for p in tmp_path.iterdir()] == [there.name]
    assert there.read_text() == "mine"
    write_pycistopic(model, tmp_path / "out", force=True)
    with pytest.raises(InputError, match="in a folder that exists"):
        write_pycistopic(model, tmp_path / "no" / "out")


def test_topics_without_tokens_are_a_warning(cells, tmp_path):
    model = trained(cells, max_iter=1)
    z = np.zeros_like(model.assignments)
    n, m = np.zeros((K, 40), np.int32), np.zeros((30, K), np.int32)
    np.add.at(n, (z, cells.word), 1)
    m[:, 0] = np.diff(cells.doc_ptr)
    empty = replace(
        model, assignments=z, topic_word_counts=sp.csr_matrix(n), doc_topic_counts=sp.csr_matrix(m)
    )
    with pytest.warns(UserWarning, match="2 topics have no tokens"):
        write_pycistopic(empty, tmp_path / "out")


def write_matrix(cells, folder):
    scipy.io.mmwrite(folder / "matrix.mtx", cells.to_matrix().T)
    (folder / "barcodes.tsv").write_text("\n".join(cells.doc_names))
    (folder / "features.tsv").write_text("\n".join(cells.vocab))


@pytest.mark.parametrize("command", ["choose-topics", "train"])
@pytest.mark.parametrize("average", [(), ("--average-draws", 1)])
def test_the_matrix_is_found_by_the_options_of_the_training(cells, tmp_path, run, command, average):
    """The files have all cells and regions, also those that were dropped."""
    write_matrix(cells, tmp_path)
    lengths, often = np.diff(cells.doc_ptr), (cells.to_matrix().toarray() > 0).sum(axis=0)
    least = int(np.sort(lengths)[1])
    more = ("--seeds", 1, "--test-share", 0.2) if command == "choose-topics" else ("-q",)
    code, _, err = run(
        command, "matrix.mtx", "--transpose", "--min-df", int(np.sort(often)[2]) + 1,
        "--min-tokens", least, "--topics", K, "--sweeps", 12, "--learn-priors-every", 0,
        "--threads", 1, *average, *more, "--out", "out",
    )  # fmt: skip
    assert code == 0, err
    model = load(tmp_path / ("out/models/k0003-seed0" if command == "choose-topics" else "out"))
    assert model.averaged_draws == (1 if average else 3)
    assert len(model.doc_names) < 30
    assert len(model.vocab) < 40
    code, _, err = run("export", "out", "--to", "pycistopic", "--out", "p")
    assert code == 0, err
    mixtures, counts, _ = read(tmp_path / "p")
    assert (mixtures.num_rows, matrix(counts).shape) == (30, (K, 40))
    there = [cells.doc_names.index(name) for name in model.doc_names]
    assert np.array_equal(matrix(mixtures)[there], model.doc_topics().astype(np.float32))
    known = [cells.vocab.index(word) for word in model.vocab]
    kept = cells.to_matrix().toarray()[np.ix_(there, known)]
    assert np.array_equal(matrix(counts)[:, known].sum(axis=0), kept.sum(axis=0))
    assert matrix(counts).sum() == kept.sum() == len(model.assignments)
    (tmp_path / "matrix.mtx").rename(tmp_path / "elsewhere.mtx")
    code, _, err = run("export", "out", "--to", "pycistopic", "--out", "q")
    assert (code, "is no longer there. Name its new place with --corpus" in err) == (2, True)


def test_the_command_among_the_parameters_repeats_the_training(cells, tmp_path, run):
    write_matrix(cells, tmp_path)
    reading = ("matrix.mtx", "--transpose", "--min-df", 10, "--min-tokens", 90)
    code, _, err = run(
        "train", *reading, "-k", K, "--alpha", "50/K", "--sweeps", 12, "--sampler", "polya-urn",
        "--warm-start", "random", "--seed", 7, "--average-draws", 2, "--out", "out", "-q",
    )  # fmt: skip
    assert code == 0, err
    code, _, err = run(
        "choose-topics", *reading, "--topics", K, "--alpha", "50/K", "--sweeps", 6, "--seeds", 1,
        "--test-share", 0, "--out", "grid", "--threads", 1, "-q",
    )  # fmt: skip
    assert code == 0, err
    for i, (folder, place) in enumerate((("out", "out"), ("grid", "grid/models/k0003-seed0"))):
        code, _, err = run("export", folder, "--to", "pycistopic", "--out", f"p{i}")
        assert code == 0, err
        command = read(tmp_path / f"p{i}")[2]["mallet_cmd"]
        assert command[0] == "polyaurn"
        code, _, err = run(*command[1:], "--out", f"again{i}", "-q")
        assert code == 0, err
        model, again = load(tmp_path / place), load(tmp_path / f"again{i}")
        assert np.array_equal(model.assignments, again.assignments)
        assert (model.topic_word_counts != again.topic_word_counts).nnz == 0
        assert model.vocab == again.vocab


def test_learned_priors_are_no_obstacle(cells, tmp_path, run):
    write_matrix(cells, tmp_path)
    code, _, err = run("train", "matrix.mtx", "--transpose", "-k", K, "--sweeps", 60, "-q",
                       "--out", "out")  # fmt: skip
    assert code == 0, err
    alpha = load(tmp_path / "out").priors.alpha
    assert alpha.min() < alpha.max()
    code, _, err = run("export", "out", "--to", "pycistopic", "--out", "p")
    assert code == 0, err
    assert "Note: The model of 3 topics has values of alpha from" in err
    assert read(tmp_path / "p")[2]["alpha"] == pytest.approx(alpha.sum())


def test_sizes_are_said_and_that_a_pruned_file_may_have_fewer(cells, tmp_path, run):
    write_matrix(cells, tmp_path)
    least = int(np.sort(np.diff(cells.doc_ptr))[1])
    reading = ("matrix.mtx", "--transpose")
    for command in (
        ("import", *reading, "--min-df", 10, "--min-tokens", least, "--out", "cells.urn"),
        ("train", "cells.urn", "-k", K, "--sweeps", 12, "-q", "--out", "out"),
    ):
        code, _, err = run(*command)
        assert code == 0, err
    model = load(tmp_path / "out")
    D, V = len(model.doc_names), len(model.vocab)
    assert (D, V) != (30, 40)
    export = ("export", "out", "--to", "pycistopic", "--out")
    code, _, err = run(*export, "p")
    assert code == 0, err
    found = f"The files have {D} cells by {V} regions; name the matrix with --corpus if it has more"
    assert found in err
    code, out, _ = run(*export, "q", "--json")
    assert (code, json.loads(out)["cells"], json.loads(out)["regions"]) == (0, D, V)
    code, _, err = run(*export, "r", "--corpus", *reading)
    assert (code, "The files have 30 cells by 40 regions.\n" in err) == (0, True)


def test_an_option_is_named_once_where_no_matrix_is_found(cells, tmp_path, run):
    trained(cells, average_draws=3, max_iter=12).save(tmp_path / "model")
    code, _, err = run("export", "model", "--to", "pycistopic", "--out", "p")
    assert (code, err.count("--corpus")) == (2, 1)
    assert "The '--corpus' option must be given for this model, whose counts are means of 3" in err
    code, _, err = run("export", "model", "--to", "pycistopic", "--out", "p", "--transpose")
    assert (code, "Got it without one; add --corpus." in err) == (2, True)


def test_a_grid_is_written_for_each_number_of_topics(cells, tmp_path, run):
    write_matrix(cells, tmp_path)
    reading = ("--transpose",)
    code, _, err = run(
        "choose-topics", "matrix.mtx", *reading, "--topics", "2,3", "--seeds", 1, "--sweeps", 6,
        "--alpha", "50/K", "--beta", 0.1, "--learn-priors-every", 0, "--test-share", 0,
        "--out", "grid", "--threads", 1,
    )  # fmt: skip
    assert code == 0, err
    assert "No suggestion: no document is held out" in err
    code, _, err = run("export", "grid", "--to", "pycistopic", "--out", "p", "--corpus",
                       "matrix.mtx", *reading)  # fmt: skip
    assert code == 0, err
    for k in (2, 3):
        model = load(tmp_path / "grid" / "models" / f"k{k:04d}-seed0")
        cell, region, facts = read(tmp_path / "p", k)
        assert np.array_equal(matrix(cell), model.doc_topics().astype(np.float32))
        assert matrix(region).sum() == cells.n_tokens
        assert facts["alpha"] == pytest.approx(50.0)
        assert model.priors.alpha[0] == 50 / k
    code, _, err = run("export", "grid", "--to", "pycistopic", "--out", "p", "--corpus",
                       "matrix.mtx", *reading)  # fmt: skip
    assert (code, "is there already" in err) == (2, True)
    found = json.loads((tmp_path / "grid" / "sweep.json").read_text())
    assert found["topics"][0]["held_out"] is None
    assert found["topics"][0]["arun_2010"]["mean"] > 0


def test_cells_that_a_grid_holds_out_have_mixtures_and_a_note(cells, tmp_path, run):
    write_matrix(cells, tmp_path)
    code, _, err = run("choose-topics", "matrix.mtx", "--transpose", "--topics", "2,3", "--seeds",
                       1, "--sweeps", 20, "--out", "grid", "--threads", 1)  # fmt: skip
    assert code == 0, err
    code, _, err = run("export", "grid", "--to", "pycistopic", "--out", "p")
    assert code == 0, err
    assert err.count("Note: 3 of 30 cells are not those that the model was trained on; their") == 1
    for k in (2, 3):
        model = load(tmp_path / "grid" / "models" / f"k{k:04d}-seed0")
        held = [name not in model.doc_names for name in cells.doc_names]
        expected = model.transform(cells.select(held))
        found = matrix(read(tmp_path / "p", k)[0])
        assert np.array_equal(found[held], expected.astype(np.float32))
    code, _, err = run("export", "grid/models/k0003-seed0", "--to", "pycistopic", "--out", "q")
    assert code == 0, err
    assert read(tmp_path / "q")[:2] == read(tmp_path / "p")[:2]


def test_one_model_of_a_grid_is_in_memory_at_a_time(cells, tmp_path, run, monkeypatch):
    from polyaurn.model import storage

    write_matrix(cells, tmp_path)
    code, _, err = run("choose-topics", "matrix.mtx", "--transpose", "--topics", "2,3,4", "--seeds",
                       1, "--sweeps", 3, "--test-share", 0, "--out", "grid")  # fmt: skip
    assert code == 0, err
    there, most, opened = [], [], storage.load

    def watched(place):
        model = opened(place)
        there.append(weakref.ref(model))
        most.append(sum(each() is not None for each in there))
        return model

    monkeypatch.setattr(storage, "load", watched)
    code, _, err = run("export", "grid", "--to", "pycistopic", "--out", "p")
    assert code == 0, err
    assert most == [1, 1, 1]
    (tmp_path / "p.4_topics.parameters.json").rename(tmp_path / "q.4_topics.parameters.json")
    code, _, err = run("export", "grid", "--to", "pycistopic", "--out", "q")
    assert (code, "is there already" in err, len(most)) == (2, True, 3)
