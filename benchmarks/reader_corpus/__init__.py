"""A corpus of cloud files made by code, with what each holds: for the reader tests, the fuzzing and the comparison."""

from reader_corpus.array_cases import array_cases
from reader_corpus.case import Case
from reader_corpus.odd_cases import odd_cases
from reader_corpus.pcd_cases import pcd_cases
from reader_corpus.ply_cases import ply_cases
from reader_corpus.survey_cases import e57_cases, las_cases
from reader_corpus.table_cases import table_cases

__all__ = ["Case", "corpus"]

_KINDS = (ply_cases, pcd_cases, table_cases, array_cases, odd_cases, las_cases, e57_cases)


def corpus() -> list[Case]:
    """All files; LAS and E57 where `laspy` and `pye57` are installed."""
    return [case for kind in _KINDS for case in kind()]
