"""Parquet files, a few thousand rows at a time: a column is what a key is in JSON lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pgbraid.errors import MissingExtra
from pgbraid.read.lines import row_document
from pgbraid.values import Document, Rejected

ROWS = 1024


def parquet_documents(path: Path, advance: Callable[[float], None]) -> Iterator[Document | Rejected]:
    """The rows of a Parquet file as documents. `advance` is told which share of the file the rows are.

    A column `metadata` may be a struct, or JSON text. Raises MissingExtra without pyarrow.
    """
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise MissingExtra("Reading Parquet", "parquet") from None
    try:
        with ParquetFile(path) as file:
            total, number = max(1, file.metadata.num_rows), 0
            for batch in file.iter_batches(ROWS):
                for row in batch.to_pylist():
                    number += 1
                    yield row_document(_with_metadata(row), f"{path}: row {number}")
                advance(batch.num_rows / total)
    except ArrowException as error:
        yield Rejected(path.name, f"{path}: not Parquet that can be read ({error})")


def _with_metadata(row: dict[str, Any]) -> dict[str, Any]:
    given = row.get("metadata")
    if isinstance(given, str):
        try:
            return {**row, "metadata": json.loads(given)}
        except ValueError:
            return row
    return row
