"""Models from and for other packages; one file per package."""

from polyaurn.exchange.anndata import from_anndata, to_anndata, write_anndata
from polyaurn.exchange.gensim import from_gensim, to_gensim, write_gensim
from polyaurn.exchange.ldac import read_ldac_beta, write_ldac_beta
from polyaurn.exchange.llm_labels import label_by_llm
from polyaurn.exchange.mallet_read import read_mallet_state
from polyaurn.exchange.mallet_write import write_mallet_state
from polyaurn.exchange.pycistopic import write_pycistopic
from polyaurn.exchange.pyldavis import pyldavis_arguments, write_pyldavis
from polyaurn.exchange.sklearn import from_sklearn, to_sklearn
from polyaurn.exchange.tables import document_table, topic_table, write_table
from polyaurn.exchange.topica import to_topica, topica_factory

__all__ = [
    "document_table",
    "from_anndata",
    "from_gensim",
    "from_sklearn",
    "label_by_llm",
    "pyldavis_arguments",
    "read_ldac_beta",
    "read_mallet_state",
    "to_anndata",
    "to_gensim",
    "to_sklearn",
    "to_topica",
    "topic_table",
    "topica_factory",
    "write_anndata",
    "write_gensim",
    "write_ldac_beta",
    "write_mallet_state",
    "write_pycistopic",
    "write_pyldavis",
    "write_table",
]
