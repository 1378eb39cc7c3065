"""What hostile files are tried on: one function for each format, from bytes to a verdict.

A target writes the bytes to a temporary file, in memory where the system has a RAM disk, and reads
it. The promise: a valid corpus (or model) comes back, or one `InputError` sentence that names the
file. Whatever else happens, a warning included that is not about languages, is raised and is a bug.
"""

import atexit
import hashlib
import json
import shutil
import tempfile
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from polyaurn import Corpus, InputError, exchange, import_corpus, load, read_corpus
from polyaurn.base.errors import LanguageWarning
from polyaurn.corpus.names import check_vocabulary
from polyaurn.model.model import TopicModel
from polyaurn.training.checkpoints import newest

WORDS = ("apple", "leaf", "tree", "river")
ACCEPTED, REJECTED = "accepted", "rejected"
LONGEST_SENTENCE = 1500
BETWEEN_FILES = b"\x00--\x00"  # in the input of the target "folder"

_places: dict[str, Path] = {}


def place(name: str) -> Path:
    """Return an empty folder of this process for a target, made once."""
    if name not in _places:
        ram = Path("/dev/shm")
        made = Path(tempfile.mkdtemp(prefix="fuzz-", dir=ram if ram.is_dir() else None))
        _places[name] = made
    return _places[name]


@atexit.register
def remove_places() -> None:
    """Remove the folders of this process."""
    for made in _places.values():
        shutil.rmtree(made, ignore_errors=True)


def forget_places() -> None:
    """Let a forked process make folders of its own; the parent removes those it made."""
    _places.clear()


def check_corpus(corpus: Corpus) -> None:
    """Check all that a corpus promises."""
    lengths = np.diff(corpus.doc_ptr)
    assert corpus.doc_ptr.dtype == np.int64
    assert corpus.word.dtype == np.int32
    assert corpus.doc_ptr[0] == 0
    assert corpus.doc_ptr[-1] == len(corpus.word) > 0
    assert (corpus.doc_ptr[1:] >= corpus.doc_ptr[:-1]).all()
    assert lengths.sum() == len(corpus.word)
    assert corpus.word.min() >= 0
    assert corpus.word.max() < len(corpus.vocab)
    falls = 1 + np.flatnonzero(corpus.word[1:] < corpus.word[:-1])
    assert np.isin(falls, corpus.doc_ptr).all(), "tokens are out of order inside a document"
    assert check_vocabulary(corpus.vocab) == corpus.vocab
    assert len(corpus.doc_names) == len(corpus.doc_ptr) - 1 > 0
    assert len(corpus.fingerprint) == 64


def check_sentence(error: InputError, path: Path) -> None:
    """Check that an error is one sentence of a sane length that names the file."""
    said = str(error)
    assert str(path.parent) in said or path.name in said, f"the file is not named: {said[:300]}"
    assert not set("\r\n") & set(said), f"more than one line: {said[:300]!r}"
    assert len(said) < LONGEST_SENTENCE, f"{len(said):,} characters: {said[:300]}"
    said.encode()


def judge(path: Path, also_import: bool, **options: Any) -> str:
    """Read a file, perhaps import it too; check the promise and say which way it went."""
    read = _try(lambda: read_corpus(path, **options), path)
    if read is not None:
        check_corpus(read)
    if also_import:
        out = path.parent / "imported.urn"
        before = set(path.parent.iterdir()) - {out}
        imported = _try(lambda: import_corpus(path, out, **options), path)
        assert (imported is None) == (read is None), "reading and importing disagree"
        assert imported is None or imported == read, "imported is not what was read"
        assert set(path.parent.iterdir()) - {out} == before, "files are left over"
    return REJECTED if read is None else ACCEPTED


def _try(act: Callable[[], Any], path: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ResourceWarning)  # raised where none can catch it
        warnings.simplefilter("ignore", LanguageWarning)  # bytes may spell another script
        try:
            return act()
        except InputError as error:
            check_sentence(error, path)
            return None


def _one_file(name: str, **options: Any) -> Callable[[bytes], str]:
    def target(data: bytes) -> str:
        path = place(name) / name
        path.write_bytes(data)
        return judge(path, zlib.crc32(data) % 4 == 0, **options)

    return target


def vocabulary(data: bytes) -> str:
    """Try a vocabulary beside a good bag of words."""
    folder = place("vocabulary")
    (folder / "docword.toy.txt").write_bytes(b"2\n4\n2\n1 1 2\n2 4 1\n")
    (folder / "vocab.toy.txt").write_bytes(data)
    return judge(folder / "docword.toy.txt", also_import=False)


def folder(data: bytes) -> str:
    """Try a folder; the parts of the input are its files."""
    path = place("folder") / "texts"
    shutil.rmtree(path, ignore_errors=True)
    (path / "deeper").mkdir(parents=True)
    names = ("a.txt", "deeper/b.txt.gz", "c.txt", ".hidden.txt", "no-document.csv")
    for name, part in zip(names, data.split(BETWEEN_FILES), strict=False):
        (path / name).write_bytes(part)
    return judge(path, zlib.crc32(data) % 4 == 0)


def anything(data: bytes) -> str:
    """Try a file whose name says nothing, or the wrong thing; the first byte chooses it."""
    names = ("x", "x.txt", "x.csv", "x.tsv", "x.mtx", "x.svm", "x.ldac", "docword.x.txt", "x.urn",
             "x.jsonl")  # fmt: skip
    if not data:
        return REJECTED
    path = place("anything") / names[data[0] % len(names)]
    path.write_bytes(data[1:])
    try:
        return judge(path, also_import=False)
    finally:
        path.unlink()


_model: list[Any] = []
_checkpoint: dict[str, bytes] = {}
CHECKPOINT = "sweep-000000006.json"


def saved_model() -> tuple[Path, dict[str, bytes]]:
    """Return the folder of a small model and what its files hold, by name."""
    if not _model:
        from polyaurn import LDA

        texts = ["red apple tree", "green leaf tree", "river tree leaf", "apple river"] * 5
        made = LDA(n_components=3, max_iter=5, random_state=0).fit(Corpus.from_texts(texts))
        _model.append(made.save(place("template") / "model"))
        files = sorted(p for p in _model[0].rglob("*") if p.is_file())
        _model.append({p.relative_to(_model[0]).as_posix(): p.read_bytes() for p in files})
    return _model[0], _model[1]


def model(data: bytes) -> str:
    """Try a model folder with one file replaced: the first byte says which.

    The second says whether checksums are made to fit, as an enemy would.
    """
    return _sealed(data, "model", saved_model()[1], "model.json", _load_and_use)


def checkpoint(data: bytes) -> str:
    """Try the checkpoint of a run in the same way."""
    return _sealed(data, "checkpoint", saved_checkpoint(), CHECKPOINT, newest)


def _load_and_use(path: Path) -> None:
    use_model(load(path))


def _sealed(
    data: bytes, name: str, files: dict[str, bytes], header: str, act: Callable[[Path], Any]
) -> str:
    if len(data) < 2:
        return REJECTED
    path = place(name) / name
    if not path.exists():
        path.mkdir()
        for file, content in files.items():
            (path / file).write_bytes(content)
    chosen = sorted(files)[data[0] % len(files)]
    (path / chosen).write_bytes(data[2:])
    if data[1] % 2:
        seal_again(path, header)
    try:
        return REJECTED if _try(lambda: act(path) or path, path) is None else ACCEPTED
    finally:
        for file in {chosen, header}:
            (path / file).write_bytes(files[file])


def seal_again(path: Path, header: str) -> None:
    """Make the checksums of a folder fit what is in it, as far as its header can be read."""
    try:
        facts = json.loads((path / header).read_bytes())
        for fact in facts["files"].values():
            content = (path / fact["file"]).read_bytes()
            fact |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        facts.pop("sha256", None)
        text = json.dumps(facts, sort_keys=True, separators=(",", ":"))
        facts["sha256"] = hashlib.sha256(text.encode()).hexdigest()
        (path / header).write_text(json.dumps(facts))
    except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError):
        return


def saved_checkpoint() -> dict[str, bytes]:
    """Return what the files of a checkpoint hold, by name."""
    if not _checkpoint:
        from polyaurn import LDA

        folder = place("template") / "run"
        texts = ["red apple tree", "green leaf tree", "river tree leaf", "apple river"] * 5
        LDA(3, max_iter=6, learn_priors_every=4, checkpoint=folder, verbose=False).fit(texts)
        for path in (folder / "checkpoints").iterdir():
            _checkpoint[path.name] = path.read_bytes()
    return _checkpoint


def _exchanged(name: str, read: Callable[[Path], TopicModel]) -> Callable[[bytes], str]:
    """Try a model of another program."""

    def target(data: bytes) -> str:
        path = place(name) / name
        path.write_bytes(data)
        path.with_suffix(".other").write_text("num_topics 2\nnum_terms 4\nalpha 0.1\n")
        return REJECTED if _try(lambda: use_model(read(path)) or path, path) is None else ACCEPTED

    return target


def use_model(loaded: TopicModel) -> None:
    """Do with a model what users do first."""
    assert len(loaded.topics()) == loaded.n_topics
    document = Corpus.from_texts(["green apple tree", f"tree river {loaded.vocab[0]} leaf"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # words that the model does not know
        try:
            mixture = loaded.transform(document, burn_in=1, kept=1, n_jobs=1)
        except InputError:
            return
    assert mixture.shape == (2, loaded.n_topics)
    assert np.isfinite(mixture).all()


TARGETS: dict[str, Callable[[bytes], str]] = {
    "uci": _one_file("docword.toy.txt", vocabulary=WORDS),
    "matrix-market": _one_file("toy.mtx"),
    "svmlight": _one_file("toy.svm", format="svmlight"),
    "ldac": _one_file("toy.ldac", format="ldac"),
    "lines": _one_file("toy.txt", format="lines"),
    "csv": _one_file("toy.csv", name_column="id"),
    "tsv": _one_file("toy.tsv", format="table", name_column="id"),
    "jsonl": _one_file("toy.jsonl", name_column="id"),
    "parquet": _one_file("toy.parquet", name_column="id"),
    "mallet": _one_file("mallet.txt", format="mallet"),
    "urn": _one_file("toy.urn"),
    "vocabulary": vocabulary,
    "folder": folder,
    "anything": anything,
    "model": model,
    "checkpoint": checkpoint,
    "mallet-state": _exchanged("state.txt", exchange.read_mallet_state),
    "ldac-beta": _exchanged("final.beta", lambda path: exchange.read_ldac_beta(path, WORDS)),
}
