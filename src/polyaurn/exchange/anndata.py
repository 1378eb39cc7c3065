"""AnnData: corpora from it, and models into it; cells are documents, genes are words."""

import shutil
import warnings
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from polyaurn.base.errors import InputError
from polyaurn.corpus.anndata import check_anndata, read_anndata
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.names import Numbered
from polyaurn.files.atomic import PATH, check_new_file, new_file
from polyaurn.files.reading import one_line
from polyaurn.model.checks import check_documents
from polyaurn.model.data import word_probabilities
from polyaurn.model.labels import KEY, OF_LABELS, given_labels
from polyaurn.model.model import fitted


def from_anndata(adata: Any, layer: str | None = None) -> Corpus:
    """Take the counts of an AnnData object.

    Parameters
    ----------
    adata : anndata.AnnData
        Cells by genes.
    layer : str, optional
        The layer that holds the counts; ``adata.X`` when not given.

    Returns
    -------
    Corpus
        A document for each cell, named as in ``obs_names``; a word for each gene.
    """
    return read_anndata(adata, layer, Corpus.from_matrix)


def to_anndata(model: Any, adata: Any, *, transpose: bool = False) -> Any:
    """Write a model into the AnnData object it was trained on; X and layers stay as they are.

    Parameters
    ----------
    model : TopicModel or LDA
        Trained on cells of `adata`. Cells and genes are found by name; cells without names, which
        must then be all of them in their order, by number.
    adata : anndata.AnnData
        Receives ``obsm["X_topics"]`` (mixtures of the cells, n_obs by K; NaN for cells that were
        dropped before training), ``varm["topics"]`` (probabilities of genes, n_vars by K; NaN for
        genes that the model does not know) and ``uns["polyaurn"]`` (parameters and priors).
    transpose : bool
        Whether `adata` has genes by cells, as files that `read_corpus` reads with `transpose`. The
        cells are then in ``var`` and the genes in ``obs``, so that ``varm["X_topics"]`` and
        ``obsm["topics"]`` are written.

    Returns
    -------
    anndata.AnnData
        The same object.
    """
    trained = fitted(model)
    check_documents(trained)
    check_anndata(adata)
    names, matrices = (adata.obs_names, adata.var_names), (adata.obsm, adata.varm)
    (cells, genes), (of_cells, of_genes) = (
        (names[::-1], matrices[::-1]) if transpose else (names, matrices)
    )
    place = _cells_in(cells, genes, trained.doc_names, transpose=transpose)
    number = {word: v for v, word in enumerate(trained.vocab)}
    gene = np.array([number.get(str(name), -1) for name in genes])
    if not (gene >= 0).any():
        raise InputError(
            "The AnnData object must have genes that the model knows. None of its "
            f"{'obs_names' if transpose else 'var_names'} is a word of the model; were they "
            "renamed?"
        )
    topics = np.full((len(gene), trained.n_topics), np.nan)
    topics[gene >= 0] = word_probabilities(trained).T[gene[gene >= 0]]
    mixtures = np.full((len(cells), trained.n_topics), np.nan)
    mixtures[place] = trained.doc_topics()
    of_cells["X_topics"] = mixtures
    of_genes["topics"] = topics
    labels = given_labels(trained)
    adata.uns["polyaurn"] = {
        **{
            name: value
            for name, value in trained.parameters.items()
            if value is not None and name not in OF_LABELS
        },
        **({KEY: np.array([label or "" for label in labels])} if any(labels) else {}),
        "alpha": trained.priors.alpha.copy(),
        "beta": trained.priors.beta.copy(),
    }
    return adata


def write_anndata(
    model: Any,
    source: str | Path,
    path: str | Path,
    *,
    transpose: bool = False,
    force: bool = False,
) -> Path:
    """Write a copy of the ``.h5ad`` file that a model was trained on, with the model in it.

    Parameters
    ----------
    model : TopicModel or LDA
        Trained on cells of the file.
    source : str or Path
        The file; it stays as it is, and its matrix is not read.
    path : str or Path
        The copy, ``NAME.h5ad``, which has in addition what `to_anndata` writes. A warning says how
        many cells have NaN.
    transpose : bool
        Whether the file has genes by cells; see `to_anndata`.
    force : bool
        Replace a copy that is there.

    Returns
    -------
    Path
        The copy.
    """
    file = check_anndata_file(path, force=force)
    bare = _without_matrix(Path(source))
    if file.exists() and file.samefile(source):
        raise InputError(
            f"The copy must have a name of its own. Got '{path}', the file that is copied; choose "
            "another name."
        )
    to_anndata(model, bare, transpose=transpose)
    n_cells, known = bare.n_vars if transpose else bare.n_obs, len(fitted(model).doc_names)
    if known < n_cells:
        warnings.warn(
            f"{n_cells - known:,} of {n_cells:,} cells are not those that the model was trained "
            "on; they have NaN in X_topics. 'polyaurn infer' (model.transform) finds their "
            "mixtures.",
            stacklevel=2,
        )
    import h5py

    with TemporaryDirectory() as folder, new_file(file) as fresh:
        bare.write_h5ad(Path(folder) / "model.h5ad")
        shutil.copyfile(source, fresh)
        with h5py.File(Path(folder) / "model.h5ad") as new, h5py.File(fresh, "r+") as copy:
            for group in ("obsm", "varm", "uns"):
                inside = copy.require_group(group)
                for name in new[group]:
                    if name in inside:
                        del inside[name]
                    new.copy(new[group][name], inside, name)
    return file


def check_anndata_file(path: str | Path, *, force: bool, what: str = PATH) -> Path:
    """Return the path of a file to write, or raise an error before any long work."""
    return check_new_file(path, force=force, what=what, suffixes=(".h5ad",))


def _without_matrix(source: Path) -> Any:
    """Return AnnData with the names of a file only."""
    try:
        import anndata
    except ImportError:
        raise InputError(
            f"The file '{source}' is AnnData, for which the package anndata is needed. Install it "
            "with: pip install 'polyaurn[anndata]'"
        ) from None
    try:
        backed = anndata.read_h5ad(source, backed="r")
    except (OSError, KeyError, RuntimeError, ValueError, TypeError, AttributeError) as error:
        raise InputError(
            f"The file '{source}' must be AnnData, an .h5ad file. It cannot be read: "
            f"{one_line(error)}; name the file that the model was trained on."
        ) from None
    bare = anndata.AnnData(obs=backed.obs[[]], var=backed.var[[]])
    backed.file.close()
    return bare


def _cells_in(
    found: Sequence[Any], others: Sequence[Any], names: Sequence[str], *, transpose: bool
) -> Any:
    """Return where the cells of a model are among names; `others` are those of the other side."""
    side = "var_names" if transpose else "obs_names"
    cells = [" ".join(str(name).split()) for name in found]
    D = len(names)
    if len(cells) == D and (isinstance(names, Numbered) or cells == [*names]):
        return np.arange(D)
    number = {name: i for i, name in enumerate(cells)}
    if len(number) < len(cells):
        raise InputError(
            f"The AnnData object must have each cell once in {side}, where they are not all "
            "those of the model in its order. Some are there twice; call "
            f"adata.{side}_make_unique() before training."
        )
    missing = [name for name in names if name not in number]
    if missing:
        remedy = "for other cells use model.transform"
        if {" ".join(str(name).split()) for name in others}.issuperset(names):
            turn = "leave out transpose" if transpose else "add transpose=True"
            remedy = f"its other side has them all: {turn} (--transpose)"
        raise InputError(
            "The AnnData object must have the cells the model was trained on, by name. "
            f"{len(missing):,} of {D:,} are not among its {len(cells):,} {side}, such as "
            f"{missing[0]!r:.60}; {remedy}."
        )
    return np.array([number[name] for name in names])
