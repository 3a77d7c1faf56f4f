"""Tables: what is written is what Python's own csv reads, and a cut-back leaves whole rows."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from godojo.errors import GodojoError
from godojo.runs.tables import DECIMALS, Words, append, csv_rows, open_table

NUMBERS = st.floats(allow_nan=True, allow_infinity=True, width=32)
WORDS = ["", "now", "a, b", 'the "old" one', "größe", "line\nbreak", "10m"]


@given(
    st.lists(
        st.tuples(NUMBERS, st.integers(-(2**62), 2**62), st.integers(-1, len(WORDS) - 1), st.floats(-1e4, 1e4)),
        min_size=1,
        max_size=20,
    )
)
def test_rows_are_what_csv_reads(rows: list[tuple[float, int, int, float]]) -> None:
    numbers, wholes, codes, small = (np.array(column) for column in zip(*rows, strict=True))
    text = csv_rows([wholes, numbers.astype(np.float32), Words(codes, WORDS), small]).decode()
    read = list(csv.reader(io.StringIO(text, newline="")))
    assert len(read) == len(rows)
    for (number, whole, code, few), (whole_text, number_text, word, few_text) in zip(rows, read, strict=True):
        assert int(whole_text) == whole
        assert float(number_text) == pytest.approx(number, rel=1e-12, abs=0.51 * 10**-DECIMALS, nan_ok=True)
        assert float(few_text) == pytest.approx(few, abs=0.51 * 10**-DECIMALS)
        assert word == ("" if code < 0 else WORDS[code])


def test_numbers_are_short() -> None:
    numbers = np.array([0.0, -0.00001, 1.0, -2.5, 0.0301, 1234567.125, -0.5])
    assert csv_rows([numbers]).decode().split("\n") == [*["0", "0", "1", "-2.5", "0.0301", "1234567.125", "-0.5"], ""]
    assert csv_rows([np.array([0, -7, 120], np.int8), np.array([True, False, True])]) == b"0,1\n-7,0\n120,1\n"


def test_no_rows_are_no_text() -> None:
    assert csv_rows([np.zeros(0), np.zeros(0, np.int64), Words(np.zeros(0, np.int64), ["now"])]) == b""


@pytest.mark.parametrize("cut", [0, 1, 2, 9, 10, 11, 25, 99, 100, 150])
def test_a_table_goes_on_after_any_row(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "table.csv"
    said: list[str] = []
    rows = [f"{number},{'x' * (number % 7)}\n".encode() for number in range(1, 101)]
    with open_table(path, ["number", "text"], None, said.append) as file:
        append(file, path, b"".join(rows) + b"101,half a r")
    with open_table(path, ["number", "text"], cut, said.append) as file:
        append(file, path, b"new\n")
    assert path.read_bytes() == b"number,text\n" + b"".join(rows[:cut]) + b"new\n"
    assert bool(said) == (cut > 100)  # rows that are not there are spoken of


def test_a_table_cut_at_any_byte_goes_on_with_whole_rows(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    rows = [f"{number},{number * number}\n".encode() for number in range(1, 13)]
    whole = b"number,square\n" + b"".join(rows)
    for size in range(len(b"number,square\n"), len(whole) + 1):
        path.write_bytes(whole[:size])
        open_table(path, ["number", "square"], 12, lambda _: None).close()
        kept = path.read_bytes()
        assert kept == whole[: whole[:size].rfind(b"\n") + 1]


def test_other_columns_and_lost_tables(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b"number,other\n1,2\n")
    with pytest.raises(GodojoError, match="other columns"):
        open_table(path, ["number", "text"], 1, lambda _: None)
    said: list[str] = []
    open_table(tmp_path / "gone.csv", ["number"], 5, said.append).close()
    assert "is missing" in said[0]
    assert (tmp_path / "gone.csv").read_bytes() == b"number\n"
    path.write_bytes(b"number,text\nrubbish\n")
    with pytest.raises(GodojoError, match="rubbish"):
        open_table(path, ["number", "text"], 1, lambda _: None)
