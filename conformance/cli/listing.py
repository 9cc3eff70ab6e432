"""What the suite knows, as text or JSON: ops, backends and known deviations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from conformance.backends import names
from conformance.campaign.shares import read_shares
from conformance.campaign.workers.backend_cache import Unopened, describe_backend
from conformance.campaign.workers.pool import Workers
from conformance.case.prose import counted
from conformance.deviations.entries import known
from conformance.laws.registry import LAWS
from conformance.ops import catalogue, not_offered
from conformance.ops.usage import MODELS, THOUSAND, Count, catalogued, coverage
from conformance.report.words import REPEATED, by_reason, share_text
from reference_impl import DIALECTS
from reference_impl.dialects.conventions import UNBOUNDED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.ops.usage import Models


def ops_listing(*, as_json: bool) -> str:
    """List the catalogue by rank, then the ops that are not offered with the reason."""
    rows = [
        {
            "name": op.name,
            "base_op": op.base_op,
            "rank": op.rank,
            "family": op.family,
            "operands": op.operands,
            "attrs": op.attrs,
            "exact": op.exact,
            "in_place": op.form is not None,
            "takes": op.numbers.taken,
            "highest_order": {d.name: _bounded(d.conventions.highest_order(op.name)) for d in DIALECTS.values()},
            "calls": dict(op.calls),
        }
        for op in sorted(catalogue().values(), key=lambda op: (op.rank, op.name))
    ]
    if as_json:
        return msgspec.json.format(msgspec.json.encode({"ops": rows, "not_offered": not_offered()})).decode()
    bases = len({op.base_op for op in catalogue().values()})
    lines = [f"{len(rows)} ops of {bases} base ops; 'order' is the highest derivative that every dialect offers", ""]
    table = [("rank", "op", "in place", "family", "order", "numbers", "lanes", "operands; attributes")]
    for op in sorted(catalogue().values(), key=lambda op: (op.rank, op.name)):
        order = min(d.conventions.highest_order(op.name) for d in DIALECTS.values())
        shown = "3+" if order == UNBOUNDED else str(order)
        lanes = "exact, numeric" if op.exact else "numeric"
        attrs = f"; {', '.join(op.attrs)}" if op.attrs else ""
        changing = "yes" if op.form is not None else ""
        rank, operands = str(op.rank), f"{', '.join(op.operands)}{attrs}"
        table.append((rank, op.name, changing, op.family, shown, op.numbers.taken, lanes, operands))
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for first, *others in table:
        padded = (text.ljust(width) for text, width in zip(others, widths[1:], strict=True))
        lines.append(f"{first:>{widths[0]}}  {'  '.join(padded)}".rstrip())
    lines += ["", "not offered yet, of the same ranks:"]
    lines += [f"      {name}: {reason}" for name, reason in not_offered().items()]
    return "\n".join(lines)


COUNTED = (
    "Counted are uses: pairs of a public model and a base op that it uses.",
    "A use is covered where the catalogue has an op of that base op.",
    "How often a model calls it, and with which arguments, is not known.",
)
"""What the shares of `coverage_listing` are shares of."""


def coverage_listing(*, as_json: bool) -> str:
    """Say which share of what models use the catalogue covers, and what is missing."""
    found = coverage(catalogued())
    if as_json:
        missing = [{"base_op": op.name, "rank": op.rank, "family": op.family, **_shares(op.used)} for op in found.missing]
        uses = {
            m: {"covered": c.share, "uses_per_model": c.of / THOUSAND, "covered_per_model": c.there / THOUSAND}
            for m, c in found.uses.items()
        }
        counts = {
            "base_ops": found.base_ops,
            "first_ranks": {str(rank): c for rank, c in found.first.items()},
            "families": found.families,
        }
        of_all = {"counted": " ".join(COUNTED), "uses": uses, **counts, "missing": missing, "beyond": found.beyond}
        return msgspec.json.format(msgspec.json.encode(of_all)).decode()
    lines = [*COUNTED, ""]
    for models, count in found.uses.items():
        per_model = f"{count.there / THOUSAND:.3f} of the {count.of / THOUSAND:.3f} base ops that one uses on average"
        without = ", ".join(f"{op.name} ({op.used[models] / THOUSAND:.1%} of them)" for op in found.missing if op.used[models])
        lines.append(f"{f'{models} models':<14} {count.share:8.3%}  {per_model}; missing: {without or 'nothing'}")
    lines += ["", _counted("all base ops", found.base_ops)]
    lines += [_counted(f"ranks 1 to {rank}", count) for rank, count in found.first.items()]
    lines += ["", *(_counted(family, count) for family, count in found.families.items())]
    used = [op for op in found.missing if any(op.used.values())]
    lines += ["", f"{counted(len(found.missing), 'base op')} missing, {len(used)} of them used by one model in 2,000 or more; by rank:"]
    lines.append("    " + ", ".join(f"{op.name} ({op.rank})" for op in found.missing))
    lines += [f"of the catalogue, but not of the table: {', '.join(found.beyond)}"] if found.beyond else []
    return "\n".join(lines)


def _shares(used: Mapping[Models, int]) -> dict[str, float]:
    return {f"share_of_{models}_models": used[models] / THOUSAND for models in MODELS}


def _counted(name: str, count: Count) -> str:
    return f"{name:<24} {count.there:>4} of {count.of}"


def _bounded(order: int) -> int | None:
    return None if order == UNBOUNDED else order


def deviations_listing(hits: dict[str, int] | None, *, as_json: bool) -> str:
    """List the known deviations; ``hits``: how many cases of a run showed each, if a run is given."""
    seen = {entry.id: {} if hits is None else {"hits": hits.get(entry.id, 0)} for entry in known()}
    shares = read_shares()
    measured = {} if shares is None else {id_: (n, b.cases) for b in shares.backends.values() for id_, n in b.shown.items() if b.cases}
    if as_json:
        rows = [{**msgspec.to_builtins(entry), **seen[entry.id], "measured": measured.get(entry.id)} for entry in known()]
        return msgspec.json.format(msgspec.json.encode(rows)).decode()
    lines = [f"{counted(len(known()), 'known deviation')}; where wrong values have no signature, the reason is given"]
    for entry in known():
        count = "".join(f"  {counted(number, 'case')}" for number in seen[entry.id].values())
        lines += ["", f"{entry.id}  {entry.backend} {entry.versions}{count}", f"    {entry.reason}"]
        lines += [f"    where {words}" for words in entry.asked]
        lines += [f"    {share_text(*measured[entry.id])}"] if entry.id in measured else []
        lines += [
            f"    {words}" for words in (entry.wrong_values, entry.dies, f"finding {entry.finding} {entry.link}".rstrip()) if words
        ]
    return "\n".join(lines)


def backends_listing(*, as_json: bool) -> str:
    """List every backend that can be named, opened in a worker."""
    with Workers((), 1) as workers:
        rows = {name: workers.call(describe_backend, name) or Unopened("takes its process down") for name in names()}
    if as_json:
        listed = [{"name": name, **msgspec.structs.asdict(row)} for name, row in rows.items()]
        return msgspec.json.format(msgspec.json.encode(listed)).decode()
    lines = []
    for name, row in rows.items():
        if isinstance(row, Unopened):
            lines.append(f"{name:<10} not here: {row.error}")
            continue
        lines.append(f"{name:<10} {row.version:<14} dialect {row.dialect}, repeatable {REPEATED[row.repeatable]}")
        lines += [f"           not offered, since {reason}: {words}" for reason, words in by_reason(row.not_offered)]
    return "\n".join(lines)


def laws_listing() -> str:
    """List the laws, what each says, and whether of calls or of whole scripts."""
    return "\n".join(f"{law.id:<15} of {'calls:  ' if law.of_call else 'scripts:'} {law.statement}" for law in LAWS.values())
