"""What the suite knows, as text or JSON: ops, backends and known deviations."""

from __future__ import annotations

from typing import Any

import msgspec

from conformance.backends import names
from conformance.campaign.pool import Workers
from conformance.campaign.worker import describe_backend
from conformance.deviations import known
from conformance.laws.registry import LAWS
from conformance.ops import NOT_OFFERED, catalogue
from conformance.ops.in_place import IN_PLACE
from conformance.ops.kinds import takes
from reference_impl import DIALECTS
from reference_impl.dialect import UNBOUNDED


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
            "in_place": op.name in IN_PLACE,
            "takes": takes(op.name),
            "highest_order": {d.name: d.highest_order.get(op.name) for d in DIALECTS.values()},
            "calls": dict(op.calls),
        }
        for op in sorted(catalogue().values(), key=lambda op: (op.rank, op.name))
    ]
    if as_json:
        return msgspec.json.format(msgspec.json.encode({"ops": rows, "not_offered": NOT_OFFERED})).decode()
    bases = len({op.base_op for op in catalogue().values()})
    lines = [f"{len(rows)} ops of {bases} base ops; 'order' is the highest derivative that Paddle offers", ""]
    lines.append(
        f"{'rank':>4}  {'op':<20} {'in place':<9} {'family':<11} {'order':<6} {'numbers':<8} {'lanes':<14} operands; attributes"
    )
    for op in sorted(catalogue().values(), key=lambda op: (op.rank, op.name)):
        order = DIALECTS["paddle"].highest_order.get(op.name, UNBOUNDED)
        shown = "3+" if order == UNBOUNDED else str(order)
        lanes = "exact, numeric" if op.exact else "numeric"
        attrs = f"; {', '.join(op.attrs)}" if op.attrs else ""
        changing = "yes" if op.name in IN_PLACE else ""
        row = f"{op.rank:>4}  {op.name:<20} {changing:<9} {op.family:<11} {shown:<6} {takes(op.name):<8} {lanes:<14}"
        lines.append(f"{row} {', '.join(op.operands)}{attrs}")
    lines += ["", "not offered yet, of the same ranks:"]
    lines += [f"      {name}: {reason}" for name, reason in NOT_OFFERED.items()]
    return "\n".join(lines)


def deviations_listing(hits: dict[str, int] | None, *, as_json: bool) -> str:
    """List the known deviations; ``hits``: how many cases of a run showed each, if a run is given."""
    seen = {entry.id: {} if hits is None else {"hits": hits.get(entry.id, 0)} for entry in known()}
    if as_json:
        rows = [{**msgspec.to_builtins(entry), **seen[entry.id]} for entry in known()]
        return msgspec.json.format(msgspec.json.encode(rows)).decode()
    lines = [f"{len(known())} known deviations; where wrong values have no signature, the reason is given"]
    for entry in known():
        count = "".join(f"  {number} cases" for number in seen[entry.id].values())
        lines += ["", f"{entry.id}  {entry.backend} {entry.versions}{count}", f"    {entry.reason}"]
        lines += [f"    {words}" for words in (entry.wrong_values, f"finding {entry.finding} {entry.link}".rstrip()) if words]
    return "\n".join(lines)


def backends_listing(*, as_json: bool) -> str:
    """List every backend that can be named, opened in a worker."""
    known = names()
    with Workers((), 1) as workers:
        rows: list[dict[str, Any]] = [
            {"name": name, **(workers.call(describe_backend, name) or {"error": "takes its process down"})} for name in known
        ]
    if as_json:
        return msgspec.json.format(msgspec.json.encode(rows)).decode()
    lines = []
    for row in rows:
        if "error" in row:
            lines.append(f"{row['name']:<10} not here: {row['error']}")
            continue
        lines.append(f"{row['name']:<10} {row['version']:<14} dialect {row['dialect']}")
        lines += [f"             not offered: {name}: {reason}" for name, reason in row["not_offered"].items()]
    return "\n".join(lines)


def laws_listing() -> str:
    """List the laws, what each says, and whether of calls or of whole scripts."""
    return "\n".join(f"{law.id:<15} of {'calls:  ' if law.of_call else 'scripts:'} {law.statement}" for law in LAWS.values())


def replay_lines(explained: dict[str, Any]) -> list[str]:
    """Write a case that was run again: its steps, expected and actual, the laws that were tried, and the verdict."""
    lines = []
    for number, step in enumerate(explained["steps"]):
        lines.append(f"{number:>4}  {step['text']}")
        if step["expected"] == step["actual"]:
            lines.append(f"        both     {step['expected']}")
        else:
            lines += [f"        expected {step['expected']}", f"        actual   {step['actual']}"]
    for tried in explained["laws"]:
        place = "whole script" if tried["step"] < 0 else f"step {tried['step']}"
        lines.append(f"law {tried['law']}, {place}: {tried['status']}{': ' if tried['detail'] else ''}{tried['detail']}")
    verdict = explained["verdict"]
    mismatch = verdict.get("mismatch")
    deviation = f" ({verdict['deviation']})" if "deviation" in verdict else ""
    lines.append(f"verdict: {verdict['bucket']}{deviation}")
    if mismatch:
        lines.append(f"  step {mismatch['step']} ({mismatch['at']}): expected {mismatch['expected']}, got {mismatch['actual']}")
        lines.append(f"  {' '.join(mismatch['detail'].split())[:300]}")
    return lines
