"""Hostile files made from good ones: small valid files of each format, and ways to spoil them.

An input is a function of (target, seed, index) only, so that three words repeat a failure.
"""

import gzip
import io
import random
import re
import struct
import zipfile
from collections.abc import Callable
from functools import cache

import numpy as np
from targets import BETWEEN_FILES, WORDS, place, saved_checkpoint, saved_model

from polyaurn import Corpus
from polyaurn.corpus.urn_file import write_urn

NUMBERS = [
    b"-1", b"0", b"1", b"2", b"007", b"+3", b"65536", b"100000", b"2147483647", b"2147483648",
    b"4294967295", b"4294967296", b"1000000000000", b"9223372036854775807", b"9223372036854775808",
    b"18446744073709551615", b"18446744073709551616", b"1e308", b"1e999", b"1e5", b"0.5", b"-0",
    b"1.0", b"nan", b"inf", b"-inf", b"9" * 400, b"9" * 5000, b"0x10", b"1_000", b"1,000", b"",
    "٣".encode(), "²".encode(), "１".encode(), b"null", b"true", b"[" * 1500, b'"', b"{}",
]  # fmt: skip
PIECES = [
    b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xfe\xff", b"\r\n", b"\r", b"\n", b"\n\n\n", b"\t",
    b"\t\t", b" ", b",", b";", b":", b"#", b"%", b'"', b'""', b'"\n', b'"a"\r"b"', b"'", b"\\",
    b"\x1a", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", "\u2028".encode(), "\u0085".encode(),
    "\u0130".encode(), "\U0001f333".encode(), b"\x0b", b"\x0c", b"\x1c", b"1 1 1\n", b"1:1 ",
    b" 0:0", b"text", b"id", b"\x1f\x8b", b"PAR1", b"%%MatrixMarket", b"../../up", b"x" * 300,
]  # fmt: skip
BINARY = [
    struct.pack(form, value)
    for form, values in (
        ("<i", (-1, 0, 1, 2**31 - 1, -(2**31))),
        ("<q", (-1, 0, 1, -2, 2**31, 2**32, 2**62, 2**63 - 1, -(2**63))),
        ("<d", (float("nan"), float("inf"), -1.0, 1e308)),
    )
    for value in values
]


@cache
def good_files(target: str) -> tuple[bytes, ...]:
    """Return small valid files of a format."""
    made = {
        "uci": [b"3\n4\n4\n1 1 2\n1 3 1\n3 2 3\n3 4 1\n", b"2\n4\n2\n2 1 1\n1 3 2\n"],
        "matrix-market": [
            b"%%MatrixMarket matrix coordinate integer general\n%\n3 4 3\n1 1 2\n1 3 1\n3 4 5\n",
            b"%%MatrixMarket matrix array real general\n2 2\n1\n0\n2.0\n3\n",
            b"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n",
            b"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n",
            b"%%MatrixMarket matrix coordinate unsigned-integer general\n1 2 1\n1 1 5\n",
        ],
        "svmlight": [b"1 1:2 3:1\n-1 2:1 # note\n+1\n0.5 4:7\n", b"1 0:2 3:1\n"],
        "ldac": [b"2 0:2 2:1\n0\n2 1:3 3:1\n"],
        "lines": [b"red apple tree\n\nthe green leaf\n", "été river\nтекст leaf\n".encode()],
        "csv": [
            b'id,text\na,"red apple, tree"\nb,green leaf\n',
            b'id;text;more\n1;"two\nlines";x\n2;"a ""quoted"" leaf";y\n',
        ],
        "tsv": [
            b'id\ttext\na\tred apple\nb\t"green ""leaf"""\n',
            b'id\ttext\na\t"red\tapple\ntree"\nb\t"green," he said\n',
        ],
        "jsonl": [
            b'{"id": "a", "text": "red apple"}\n\n{"id": 2, "text": null}\n',
            b'{"text": "green \\ud800 leaf\\n", "id": "\\ud800", "more": [{}]}\n',
        ],
        "mallet": [b"d1\ten\tred apple\nd2\ten\tgreen leaf\n", b"d1 en red apple\nd2 en leaf\n"],
        "mallet-state": [
            b"#doc source pos typeindex type topic\n#alpha : 0.1 0.2 \n#beta : 0.01\n"
            b"0 a.txt 0 0 apple 0\n0 a.txt 1 1 leaf 1\n1 NA 0 0 apple 1\n",
        ],
        "ldac-beta": [
            b"-1.3862943611 -1.3862943611 -1.3862943611 -1.3862943611\n"
            b"-0.6931471806 -0.6931471806 -100.0 -100.0\n",
        ],
        "vocabulary": ["".join(f"{w}\n" for w in WORDS).encode()],
        "folder": [BETWEEN_FILES.join([b"red apple\n", gzip.compress(b"green leaf"), b"tree"])],
    }
    if target in made:
        return tuple(made[target])
    if target == "parquet":
        return _parquet_files()
    if target == "urn":
        corpus = Corpus.from_matrix([[2, 0, 1], [0, 0, 0], [0, 3, 1]], ["apple", "leaf", "été"])
        named = Corpus(corpus.doc_ptr, corpus.word, corpus.vocab, ["a", "b", "c"])
        path = place("seeds") / "seed.urn"
        return tuple(write_urn(c, path).read_bytes() for c in (corpus, named))
    if target in ("model", "checkpoint"):
        files = saved_model()[1] if target == "model" else saved_checkpoint()
        return tuple(
            bytes([i, sealed]) + files[name]
            for i, name in enumerate(sorted(files))
            for sealed in (0, 1, 1, 1)
        )
    return tuple(
        bytes([first]) + file
        for first in range(9)
        for name in (*made, "urn")
        if name not in ("folder", "vocabulary", "mallet-state", "ldac-beta")
        for file in good_files(name)
    )


def _parquet_files() -> tuple[bytes, ...]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {"id": ["a", "b", "c"], "text": ["red apple", None, "green leaf"]}
    lists = pa.table({"id": [1], "text": pa.array([["red", "leaf"]])})
    twice = pa.Table.from_arrays([pa.array(["red"])] * 3, names=["id", "text", "text"])
    files = []
    for table, options in [
        (pa.table(columns), {"compression": "none"}),
        (pa.table(columns), {"compression": "snappy", "use_dictionary": False}),
        (pa.table(columns), {"compression": "gzip"}),
        (pa.table({"id": ["a"] * 900, "text": ["red apple"] * 900}), {"compression": "zstd"}),
        (lists, {}),
        (twice, {}),
    ]:
        buffer = io.BytesIO()
        pq.write_table(table, buffer, store_schema=False, **options)
        files.append(buffer.getvalue())
    return tuple(files)


def hostile(target: str, seed: int, index: int) -> bytes:
    """Return input number `index` of a target."""
    rng = random.Random(f"{target}/{seed}/{index}")
    data = rng.choice(good_files(target))
    begin = {"model": 2, "checkpoint": 2, "anything": 1}.get(target, 0)
    head, data = data[:begin], data[begin:]  # the first bytes are not the file's
    binary = target in ("parquet", "urn", "model", "checkpoint")
    ways = (*TEXT_WAYS, *BYTE_WAYS) if binary else TEXT_WAYS
    if data[:2] == b"PK":
        ways = (*BYTE_WAYS, *[spoil_archive] * len(BYTE_WAYS))
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5))):
        data = rng.choice(ways)(data, rng)
    if rng.random() < 0.12:
        data = rng.choice(GZIP_WAYS)(data, rng)
    return head + data


Way = Callable[[bytes, random.Random], bytes]


def _span(data: bytes, rng: random.Random) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice((1, 2, 4, 8, 32, 200)))


def flip(data: bytes, rng: random.Random) -> bytes:
    """Change some bytes."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def drop(data: bytes, rng: random.Random) -> bytes:
    """Leave some bytes out."""
    start, end = _span(data, rng)
    return data[:start] + data[end:]


def repeat(data: bytes, rng: random.Random) -> bytes:
    """Write some bytes several times."""
    start, end = _span(data, rng)
    return data[:start] + data[start:end] * rng.choice((2, 3, 20)) + data[end:]


def cut(data: bytes, rng: random.Random) -> bytes:
    """Break the file off."""
    return data[: rng.randrange(len(data) + 1)]


def put(data: bytes, rng: random.Random) -> bytes:
    """Put an awkward piece somewhere, most often at an end."""
    at = rng.choice((0, len(data), rng.randrange(len(data) + 1)))
    return data[:at] + rng.choice(PIECES) + data[at:]


def renumber(data: bytes, rng: random.Random) -> bytes:
    """Replace a number by a hostile one."""
    found = list(re.finditer(rb"\d+", data[:8192]))
    if not found:
        return put(data, rng)
    one = rng.choice(found)
    return data[: one.start()] + rng.choice(NUMBERS) + data[one.end() :]


def swap_lines(data: bytes, rng: random.Random) -> bytes:
    """Exchange, double or drop lines."""
    lines = data.split(b"\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]
    if rng.random() < 0.5:
        lines.insert(i, lines[j])
    return b"\n".join(lines)


def end_lines_otherwise(data: bytes, rng: random.Random) -> bytes:
    """Use other line ends, or none at the end of the file."""
    if rng.random() < 0.3:
        return data.rstrip(b"\n")
    return data.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\n", b"\x00", b"\n\r")))


def lengthen(data: bytes, rng: random.Random) -> bytes:
    """Make a very long line, field or run of blanks."""
    at = rng.randrange(len(data) + 1)
    piece = rng.choice((b"x", b"1", b" ", b"\t", b"1:1 ", b"a ", b",", b'"', b"\xc3\xa9"))
    return data[:at] + piece * rng.choice((300, 5000, 70_000 // len(piece))) + data[at:]


def overwrite(data: bytes, rng: random.Random) -> bytes:
    """Put a hostile binary number at a multiple of four, counted from either end or a page."""
    value = rng.choice(BINARY)
    start = 4096 if len(data) > 4096 and rng.random() < 0.7 else 0
    at = start + 4 * rng.randrange(max(1, (len(data) - start) // 4))
    return data[:at] + value + data[at + len(value) :]


def pack(data: bytes, rng: random.Random) -> bytes:
    """Gzip the file."""
    return gzip.compress(data, 1, mtime=0)


def pack_and_spoil(data: bytes, rng: random.Random) -> bytes:
    """Gzip the file, and damage that."""
    return rng.choice((flip, cut, drop))(gzip.compress(data, 1, mtime=0), rng)


def pack_in_parts(data: bytes, rng: random.Random) -> bytes:
    """Gzip the file in two members, perhaps with an empty one or with garbage behind."""
    at = rng.randrange(len(data) + 1)
    parts = [gzip.compress(part, 1, mtime=0) for part in (data[:at], data[at:])]
    return b"".join(parts) + rng.choice((b"", b"\0" * 20, b"garbage", gzip.compress(b"")))


def pack_a_bomb(data: bytes, rng: random.Random) -> bytes:
    """Gzip the file followed by 64 KiB of one byte."""
    return gzip.compress(
        data + rng.choice((b"\0", b" ", b"1", b"x", b"\n")) * (1 << 16), 1, mtime=0
    )


def spoil_archive(data: bytes, rng: random.Random) -> bytes:
    """Rewrite an .npz file with one member replaced, renamed or left out."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except (
        zipfile.BadZipFile,
        OSError,
        ValueError,
        EOFError,
        RuntimeError,  # encrypted, or of a kind that is not implemented
        zipfile.zlib.error,
    ):
        return flip(data, rng)
    if not members:
        return data
    name = rng.choice(sorted(members))
    array = members.pop(name)
    kind = rng.randrange(7)
    if kind == 0:
        members["../../outside-" + name] = array
    elif kind == 1:
        members[name] = renumber(array, rng)
    elif kind == 2:
        members[name] = overwrite(array, rng)
    elif kind == 3:
        members[name] = flip(array, rng)
    elif kind == 4:
        members[name] = _array_file(rng.choice(("|O", "<U9", "<c16", "<i8", "<f4")), rng)
    elif kind == 5:
        members[name] = re.sub(
            rb"'shape': \([^)]*\)", b"'shape': (%s,)" % rng.choice(NUMBERS[:18]), array
        )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for member, content in members.items():
            archive.writestr(zipfile.ZipInfo(member), content)
    return buffer.getvalue()


def _array_file(kind: str, rng: random.Random) -> bytes:
    buffer = io.BytesIO()
    if kind == "|O":
        np.save(buffer, np.array([print, None], dtype=object), allow_pickle=True)
    else:
        np.save(buffer, np.zeros(rng.choice((0, 1, 7, 60)), kind))
    return buffer.getvalue()


TEXT_WAYS: tuple[Way, ...] = (
    flip, drop, repeat, cut, put, put, renumber, renumber, renumber, swap_lines,
    end_lines_otherwise, lengthen,
)  # fmt: skip
BYTE_WAYS: tuple[Way, ...] = (flip, drop, repeat, cut, renumber, renumber, overwrite, overwrite)
GZIP_WAYS: tuple[Way, ...] = (pack, pack, pack, pack_and_spoil, pack_in_parts, pack_a_bomb)
