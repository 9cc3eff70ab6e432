"""Short texts about cases and findings."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from conformance.campaign.records import Again, RunVerdict
from conformance.campaign.shares import interval
from conformance.case.prose import counted
from conformance.compare.kinks import SUBGRADIENT
from conformance.deviations.entries import CRASH
from conformance.judge.canary import BIRD
from conformance.judge.verdict import CONVENTION, Bucket
from reference_impl import Category
from reference_impl.dialects.conventions import COMPUTED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.campaign.records import FindingRecord, Footer, NullSummary
    from conformance.campaign.records.accepted import AcceptedRecord
    from conformance.campaign.records.verdicts import MismatchRecord
    from conformance.case.case import Input
    from conformance.judge.dispute import Blame

VERDICTS = {
    RunVerdict.CONFORMS: "conforms",
    RunVerdict.DIVERGES: "diverges",
    RunVerdict.NO_RESULT: "no result: too little was compared",
    RunVerdict.SUITE_ERROR: "fault of the suite",
}
COUNTERS = {
    "calls": "autograd calls",
    "gradients": "gradient tensors",
    "gradient_elements": "gradient elements",
    "absent": "absent gradients",
    "elements": "elements, all values",
    "values": "results and final gradients",
    "errors": "refusals",
    "ops": "op steps",
    "events": "calls of hooks",
    "reached_otherwise": "refusals before which other hooks ran, as nobody promises",
    "not_offered": "steps not offered",
    "blocked": "steps blocked",
    "after_known": "steps that agree after a known deviation",
    "shadowed": "differences that may be its consequence",
    "order 1": "calls of order 1",
    "order 2": "calls of order 2",
    "order 3": "calls of order 3",
}
"""What the counters of a verdict count, in the words of the page and of the terminal."""

TOKEN = re.compile(r"\s+|[\[\](){},;:=]|[^\s\[\](){},;:=]+")
MOST_TOKENS = 600
LACKING_SHOWN = 12
MESSAGE = 120
"""How many characters are shown of a message that no category knows, or that refuses what is to be computed: enough to see why."""
HAPPENED = {Bucket.DIVERGED: "diverges", Bucket.CRASHED: "crashes", Bucket.TIMED_OUT: "does not come back"}
DEATHS = {Bucket.CRASHED: "the process died", Bucket.TIMED_OUT: "the time was up"}
EVENTS = {"more": "more events than expected", "fewer": "fewer events than expected", "order": "events in another order than expected"}


def per_million(nulls: NullSummary) -> str:
    """Return the bound on false alarms per million comparisons, to the whole number, or to three digits where that is small."""
    return f"{nulls.per_million:,.0f}" if nulls.per_million >= 10 else f"{nulls.per_million:.3g}"


def by_reason(not_offered: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return each reason for which something is not offered, with all that it holds for: an engine may lack hundreds of ops for one."""
    gathered: dict[str, list[str]] = {}
    for word, reason in not_offered.items():
        gathered.setdefault(reason, []).append(word)
    return [(reason, ", ".join(words)) for reason, words in gathered.items()]


def lacking_texts(footer: Footer, names: Mapping[str, str]) -> Iterator[str]:
    """Say of each backend for what it does not offer nothing was compared, and in how many cases; ``names``: what each is called."""
    for backend, seen in footer.lacking.items():
        words = sorted(seen.items(), key=lambda item: (-item[1], item[0]))
        listed = [f"{word} ({count})" for word, count in words[:LACKING_SHOWN]]
        more = [f"and {len(words) - LACKING_SHOWN} more"] if len(words) > LACKING_SHOWN else []
        cases = counted(footer.ledger[backend][Bucket.NOT_OFFERED], "case")
        yield f"{names[backend]}: {cases} compared nothing, since it does not offer {', '.join([*listed, *more])}"


def shape_of(entry: Input) -> str:
    """Return dtype and shape, as in ``float32[2, 3]``."""
    return f"{entry.dtype}{list(entry.shape)}"


def headline(finding: FindingRecord) -> str:
    """Say who and where."""
    at = finding.at
    place = "after the last step" if at == "end" else f"at {at.removeprefix('op:')}" if at else ""
    rule = f"; it begins at {finding.fingerprint.op}" if finding.fingerprint.op else ""
    return f"{finding.backend} {HAPPENED.get(finding.bucket, finding.bucket)} {place}".strip() + rule


def summary(finding: FindingRecord) -> str:
    """Say what differs."""
    found = finding.mismatch
    if found is None:
        return DEATHS.get(finding.bucket, "no mismatch recorded")
    if found.kind == CRASH:
        under = {"step": "", BIRD: " in a canary, after what was refused"}.get(found.where, f" in a case of the law {found.where}")
        frame = found.detail.partition(": ")[2]
        return f"{DEATHS[Bucket(found.actual)]}{under}{f': {frame}' if frame else ''}"
    if found.kind == "events":
        return EVENTS.get(found.actual, "other events than expected")
    if found.kind == CONVENTION:
        others = f"; {counted(len(finding.also_at), 'other choice')} changed like it" if finding.also_at else ""
        return f"convention changed: {found.detail}{others}"
    if found.kind == "law":
        return f"breaks the law {found.where}"
    where = value_name(found) or {"result": "the result", "grad": ".grad"}.get(found.where, "")
    if found.where == "event" and not found.at.startswith("in_place"):  # there an event is a name that changed too
        where = f"what {where} saw"
    what = f"{found.kind}{' of ' if where else ''}{where}"
    if found.kind == "value":
        return f"{what}: {SUBGRADIENT} than is promised" if found.actual == SUBGRADIENT else f"wrong {what}"
    is_told = found.kind == "error" and (found.actual == Category.UNMAPPED or found.expected == COMPUTED)
    said = f" ({' '.join(found.detail.split())[:MESSAGE]})" if is_told else ""
    return f"{what}: expected {found.expected}, actual {found.actual}{said}"


def shrinking(finding: FindingRecord) -> str:
    """Say in how many rounds the case was made smaller, and by what; nothing if it was not."""
    rounds = finding.shrink_rounds
    passes = ", ".join(f"{words} {count}" for words, count in rounds.items())
    return f"shrunk in {counted(sum(rounds.values()), 'round')}: {passes}" if rounds else ""


def again_text(finding: FindingRecord) -> str:
    """Say whether the case failed in a fresh process; nothing where it did, and alone."""
    ran = finding.since is not None and finding.since < finding.index
    history = f" Its process had run cases {finding.since} to {finding.index - 1} of the run before." if ran else ""
    match finding.again:
        case Again.ALONE:
            return ""
        case Again.AFTER:
            return f"It does not fail alone: {counted(len(finding.before), 'case')} must run before it in the same process.{history}"
        case Again.NEVER:
            tried = " Running them again did not bring it back." if ran and finding.bucket is Bucket.DIVERGED else ""
            return f"It did not fail again in a fresh process.{history}{tried}"
        case Again.UNASKED:
            return "Whether it fails again in a fresh process was not found out in time."


def suspects_text(finding: FindingRecord) -> str:
    """Say which ops are in all cases of a finding and in few others, beside one at which it shows; nothing where none is."""
    shares = [(op, share) for op, share in finding.suspects.items() if finding.at != f"op:{op}"]
    listed = ", ".join(f"{op} (in {share:.1%} of the other cases)" for op, share in shares)
    cases = "its case" if finding.count == 1 else f"all {finding.count} cases"
    return f"suspects, in {cases}: {listed}" if listed else ""


def in_some_text(finding: FindingRecord) -> str:
    """Say which ops of the case that is shown are in no more than some of the cases; nothing where all have them."""
    return f"other cases show it without {', '.join(finding.in_some)}" if finding.in_some else ""


def elsewhere_text(finding: FindingRecord) -> str:
    """List the other ops with the same wrong dtype or the same error, or the other choices that changed; nothing if there are none."""
    also = "also changed:" if finding.fingerprint.kind == CONVENTION else "also at"
    return f"{also} {', '.join(finding.also_at)}" if finding.also_at else ""


def failed_text(finding: FindingRecord) -> str:
    """Say how often the suite itself failed while a finding was written up, and where; nothing where it did not."""
    return f"the suite failed {counted(len(finding.failed), 'time')} here: {' | '.join(finding.failed)}" if finding.failed else ""


def accepted_text(met: AcceptedRecord) -> str:
    """Say that a run met a finding of the baseline."""
    until = f" until {met.until}" if met.until else ""
    return f"{met.id}: accepted{until} ({met.reason}), {counted(met.count, 'case')}: {met.summary}"


AGAIN = {
    Again.ALONE: "",
    Again.AFTER: "only after other cases in its process",
    Again.NEVER: "not again in a fresh process",
    Again.UNASKED: "",
}
"""The same in the one line of a finding."""


def value_name(found: MismatchRecord) -> str:
    """Return the name of the value that differs, if the detail of the mismatch begins with one."""
    if found.where not in ("result", "grad", "event"):
        return ""
    name = re.match(r"([\w.]+)(?=: |$)", found.detail)
    return name[1] if name else ""


REPEATED = {"bitwise": "to the last bit", "rounding": "as far as rounding goes"}
"""How alike two runs of an engine are, by its own words (`conformance.backends.Repeatable`)."""

WHO = {
    "accused": "the engine is wrong",
    "reference": "the reference is wrong: a fault of the suite",
    "unclear": "unclear: the votes do not decide",
}


def blame_text(blame: Blame | None) -> list[str]:
    """Write who is wrong, at which place (mostly the first wrong node), and how everybody voted; nothing without a blame."""
    if blame is None:
        return []
    votes = (f"{v.voter}: engine {v.accused}, reference {v.reference} ({' '.join(v.reason.split())})" for v in blame.votes)
    said = [f"vote of {vote}" for vote in votes]
    return [f"blame: {WHO[blame.who]}", f"place: {blame.node}", *said]


def node_text(finding: FindingRecord) -> str:
    """Name the first wrong node in a few words, and the op whose rule it is; nothing where nobody was asked."""
    if finding.blame is None:
        return ""
    node, op = finding.blame.node.partition(": ")[0], finding.fingerprint.op
    return f"node: {node}, the rule of {op}" if op and f":{op})" not in node else f"node: {node}"


def marked(expected: str, actual: str) -> tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
    """Cut two texts into parts, each with whether the other text lacks it."""
    left, right = TOKEN.findall(expected), TOKEN.findall(actual)
    if expected == actual or not expected or not actual or len(left) + len(right) > MOST_TOKENS:
        return [(expected, False)], [(actual, False)]
    parts: tuple[list[tuple[str, bool]], list[tuple[str, bool]]] = ([], [])
    for tag, i, j, k, m in difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        differs = tag != "equal"
        for side, tokens in zip(parts, (left[i:j], right[k:m]), strict=True):
            text = "".join(tokens)
            blank = len(text) - len(text.lstrip())  # a marked blank would be a coloured box that says nothing
            side.extend((t, d) for t, d in ((text[:blank], False), (text[blank:], differs)) if t)
    return parts


def share_text(shown: int, cases: int) -> str:
    """Say a share of cases that was measured, with its interval."""
    low, high = interval(shown, cases)
    return f"{shown / cases:.2%} measured, between {low:.2%} and {high:.2%}; {shown:,} of {cases:,} cases"
