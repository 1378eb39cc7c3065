"""The report inside a notebook: a page in a frame of its own, which can also be saved."""

from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from polyaurn.base.checks import check_whole
from polyaurn.files.atomic import check_new_file, write_text
from polyaurn.files.stamps import is_stamped
from polyaurn.pages.report import write_report

HEIGHT = 800  # pixels
_RIGHTS = "allow-scripts allow-downloads allow-popups"  # not the notebook's own origin


class Report:
    """A page about a model, shown in the output of a notebook's cell.

    Attributes
    ----------
    page : str
        The page as HTML, as `polyaurn.write_report` writes it.
    height : int
        The height of the frame that it is shown in, in pixels.
    """

    def __init__(self, page: str, height: int = HEIGHT) -> None:
        self.page = page
        self.height = check_whole(height, "height", 100)

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the page to a file.

        Parameters
        ----------
        path : str or Path
            The file, NAME.html. A page that was written before, and nobody changed, is replaced.
        force : bool
            Replace any file that is there.

        Returns
        -------
        Path
            The file.
        """
        force = force or (isinstance(path, str | Path) and is_stamped(Path(path)))
        target = check_new_file(path, force=force, suffixes=(".html",))
        write_text(target, self.page)
        return target

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="Report" sandbox="{_RIGHTS}" srcdoc="{escape(self.page)}" '
            f'style="width:100%;height:{self.height}px;border:1px solid #8884"></iframe>'
        )

    def __repr__(self) -> str:
        return f"Report({len(self.page.encode()) / 1e6:.1f} MB; save it with .save('report.html'))"


def report(
    model: Any,
    *,
    corpus: Any = None,
    dates: Any = None,
    title: str = "Topics",
    height: int = HEIGHT,
    **options: Any,
) -> Report:
    """Return the page about a model, which a notebook shows below the cell.

    Parameters
    ----------
    model : TopicModel or LDA
        The model.
    corpus : Corpus, optional
        What the model was trained on; an estimator takes its own.
    dates : iterable, optional
        A date for each document, as in `polyaurn.write_report`.
    title : str
        The page's heading.
    height : int
        The height of the frame, in pixels.
    **options
        Further parameters of `polyaurn.write_report`.

    Returns
    -------
    Report
        Save it with ``.save("report.html")``. A notebook that is saved keeps the whole page.

    Examples
    --------
    >>> import polyaurn
    >>> corpus = polyaurn.datasets.generate(n_documents=30, n_words=40, n_topics=3)
    >>> lda = polyaurn.LDA(3, max_iter=20, verbose=False).fit(corpus)
    >>> polyaurn.report(lda, title="Three topics").page.count("<h1>Three topics</h1>")
    1
    """
    corpus = getattr(model, "corpus_", None) if corpus is None else corpus
    with TemporaryDirectory() as folder:
        out = Path(folder) / "report.html"
        write_report(model, out, corpus=corpus, dates=dates, title=title, **options)
        return Report(out.read_text(encoding="utf-8"), height)
