"""What hostile files are tried on: one function for each format, from bytes to a verdict.

A target writes the bytes to a temporary file, in memory where the system has a RAM disk, and reads
it. The promise: a valid corpus (or model) comes back, or one `InputError` sentence that names the
file. Whatever else happens, a warning included, is raised and is a bug.
"""

import atexit
import shutil
import tempfile
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from polyaurn import Corpus, InputError, import_corpus, load, read_corpus
from polyaurn.model import TopicModel
from polyaurn.naming import check_vocabulary

WORDS = ("apple", "leaf", "tree", "river")
ACCEPTED, REFUSED = "accepted", "refused"
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
    """Check that a refusal is one sentence of a sane length that names the file."""
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
    return REFUSED if read is None else ACCEPTED


def _try(act: Callable[[], Corpus], path: Path) -> Corpus | None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ResourceWarning)  # raised where none can catch it
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
    """Try a file whose name tells nothing, or the wrong thing; the first byte chooses it."""
    names = ("x", "x.txt", "x.csv", "x.tsv", "x.mtx", "x.svm", "x.ldac", "docword.x.txt", "x.urn")
    if not data:
        return REFUSED
    path = place("anything") / names[data[0] % len(names)]
    path.write_bytes(data[1:])
    try:
        return judge(path, also_import=False)
    finally:
        path.unlink()


_model: list[Any] = []


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
    """Try a model folder with one file replaced: the first byte says which."""
    _, files = saved_model()
    if not data:
        return REFUSED
    path = place("model") / "model"
    if not path.exists():
        for name, content in files.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(content)
    name = sorted(files)[data[0] % len(files)]
    (path / name).write_bytes(data[1:])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ResourceWarning)  # raised where none can catch it
            try:
                loaded = load(path)
            except InputError as error:
                check_sentence(error, path)
                return REFUSED
            use_model(loaded)
        return ACCEPTED
    finally:
        (path / name).write_bytes(files[name])


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
    "parquet": _one_file("toy.parquet", name_column="id"),
    "mallet": _one_file("mallet.txt", format="mallet"),
    "urn": _one_file("toy.urn"),
    "vocabulary": vocabulary,
    "folder": folder,
    "anything": anything,
    "model": model,
}
