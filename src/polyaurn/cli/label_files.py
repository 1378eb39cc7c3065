"""Labels that users write: at the command line and in CSV files. Heavy imports are deferred."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from polyaurn.base.checks import is_digits
from polyaurn.base.errors import InputError

if TYPE_CHECKING:
    from polyaurn.model.model import TopicModel

_MOST_BYTES = 1 << 24  # of a file of labels


def changes_to(
    model: "TopicModel", labels: list[str], file: Path | None, remove: list[int]
) -> dict[int, str | None]:
    """Return what the user gives topics: a label, or None for one to remove."""
    pairs: list[tuple[int, str | None]] = [] if file is None else [*_in_file(model, file)]
    for text in labels:
        topic, equals, name = text.partition("=")
        if not equals or not is_digits(topic.strip()):
            raise InputError(
                f'The labels must be written as TOPIC=LABEL, such as 3="House prices". Got '
                f"{text!r} instead."
            )
        pairs.append((int(topic), name))
    pairs += [(topic, None) for topic in remove]
    found = dict(pairs)
    if len(found) < len(pairs):
        topics = [topic for topic, _ in pairs]
        twice = next(topic for topic in topics if topics.count(topic) > 1)
        raise InputError(f"The labels must name each topic once. Got topic {twice} twice.")
    return found


def _in_file(model: "TopicModel", path: Path) -> Iterator[tuple[int, str]]:
    """Yield the labels of a CSV file with the columns topic and label, checked by line."""
    from polyaurn.model.labels import check_label, same_label

    line_of_topic: dict[int, int] = {}
    line_of_label: dict[str, int] = {}
    for line, number, name in _rows(path):
        where = f"The file '{path}', line {line}"
        topic = int(number) if is_digits(number.strip()) else model.n_topics
        if topic >= model.n_topics:
            raise InputError(
                f"{where}: expected a topic's number from 0 to {model.n_topics - 1:,} in the "
                f"column topic. Got {number!r:.60} instead; 'polyaurn topics' lists the topics."
            )
        label = check_label(name, topic, f"column label of '{path}', line {line},")
        before = line_of_topic.setdefault(topic, line)
        if before != line:
            raise InputError(
                f"{where}: expected each topic once. Got topic {topic}, which line {before} has."
            )
        before = line_of_label.setdefault(same_label(label), line)
        if before != line:
            raise InputError(
                f"{where}: expected a label of its own for each topic. Got {label!r:.60}, which "
                f"line {before} has; add a word to one."
            )
        yield topic, label


def _rows(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield the line, topic and label of each row of a file."""
    import csv

    try:
        if path.stat().st_size > _MOST_BYTES:
            raise InputError(
                f"The file '{path}' must be a list of labels. Got {path.stat().st_size:,} bytes; "
                "is it another file?"
            )
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(
            f"The file '{path}' cannot be read: {error.strerror or error}. Check the path."
        ) from None
    except UnicodeDecodeError:
        raise InputError(f"The file '{path}' must be UTF-8 text. It is not; convert it.") from None
    reader = csv.reader(text.splitlines(keepends=True), strict=True)
    try:
        head = [name.strip().lower() for name in next(reader, [])]
        if not {"topic", "label"} <= set(head):
            raise InputError(
                f"The file '{path}' must have the columns topic and label in its first line. Got "
                f"'{','.join(head):.80}' instead."
            )
        topic, name = head.index("topic"), head.index("label")
        before = reader.line_num
        for row in reader:
            if row:
                cells = row + [""] * (len(head) - len(row))
                yield before + 1, cells[topic], cells[name]
            before = reader.line_num
    except csv.Error as error:
        raise InputError(
            f"The file '{path}', line {reader.line_num}: expected CSV. Got something else "
            f"({error}); close its quotation marks."
        ) from None
