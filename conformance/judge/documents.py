"""The promises of the source documents, by clause id, as data (``documents.toml``)."""

from __future__ import annotations

import functools
from pathlib import Path

import msgspec

from reference_impl import Category

FILE = Path(__file__).with_name("documents.toml")


class Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One source document: what it is about, where it stands, and what it promises, by clause id.

    ``dialect`` and ``call``: whose call it describes, if one; ``refusals``: the clauses by which that refuses, and with which category.
    """

    prefix: str
    name: str
    source: str
    promises: dict[str, str]
    dialect: str = ""
    call: str = ""
    refusals: dict[str, Category] = {}


class _File(msgspec.Struct, forbid_unknown_fields=True):
    document: tuple[Document, ...]


@functools.cache
def documents() -> tuple[Document, ...]:
    """Return the source documents in their order."""
    return msgspec.toml.decode(FILE.read_bytes(), type=_File).document


@functools.cache
def promises() -> dict[str, str]:
    """Return every promise by its clause id."""
    return {clause: promise for document in documents() for clause, promise in document.promises.items()}
