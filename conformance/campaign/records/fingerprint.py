"""The identity of a failure: what must stay the same while its case is made smaller, and what makes two failures one finding."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from conformance.compare.mismatch import POISON
from conformance.deviations.entries import CRASH, LAW
from conformance.judge.canary import BIRD, EVERY
from conformance.judge.verdict import CONVENTION, Bucket
from conformance.laws.judging import Sampling
from conformance.laws.registry import LAWS
from reference_impl.dialects.conventions import Kind, plain_name

if TYPE_CHECKING:
    from conformance.campaign.records.verdicts import MismatchRecord, VerdictRecord
    from conformance.laws.judging import Judging


AT_OP = "op:"
"""How the place of a difference begins that shows at an op."""
GROSS = 100.0
"""So many times the bound is an error that nobody takes for one of rounding."""


class Fingerprint(NamedTuple):
    """Backend, bucket, and the words of the first difference.

    ``message`` only for refusals that no category names, for crashes, and for conventions, of which it names the choice, or only its
    kind where the choices of many ops changed. ``at`` is empty where that is so, or many ops raise an error. ``op``: at whose rule
    `conformance.campaign.findings.triage` found that the difference begins, if it was asked and could tell.
    """

    backend: str
    bucket: Bucket
    at: str = ""
    kind: str = ""
    where: str = ""
    expected: str = ""
    actual: str = ""
    message: str = ""
    op: str = ""

    @property
    def cause(self) -> tuple[str, ...]:
        """What all failures of one finding have in common: the op at which they begin, or else all that is known of them.

        How an engine promotes dtypes is one matter, whichever ops show it: there it is the two dtypes. A law that is broken, or what a
        hook sees, is one matter whichever call shows it.
        """
        if self.op:
            return self.backend, self.op
        if self.kind == LAW or self.where == "event":
            return self._replace(at="")
        if self.kind == "dtype" and self.at.startswith(AT_OP):
            return self.backend, self.kind, self.expected, self.actual
        return self

    @property
    def place(self) -> str:
        """What tells failures of one finding apart: the step at which they show, or the choice that turned out otherwise."""
        return self.message if self.kind == CONVENTION else self.at

    @property
    def of_any_op(self) -> Fingerprint:
        """The same whichever op shows it: the error that an op raises; of a choice about one, its kind alone and how it turned out."""
        if self.kind == "error" and self.at.startswith(AT_OP):
            return self._replace(at="")
        if self.kind != CONVENTION or self.message.startswith(Kind.ALLOWED):
            return self
        kind, *_, option = self.message.split(": ")
        return self._replace(at="", message=f"{kind}: {option}")

    @property
    def is_of_any_op(self) -> bool:
        """Whether it is that of an error that many ops raise."""
        return self.kind == "error" and not self.at

    @property
    def shown_by(self) -> str:
        """The op that shows what is the same `of_any_op`."""
        return self.message.split()[1] if self.kind == CONVENTION else self.at.removeprefix(AT_OP)

    @property
    def ends_processes(self) -> bool:
        """Whether the process does not come back from such a case."""
        return self.bucket in (Bucket.CRASHED, Bucket.TIMED_OUT)

    def is_shown_by(self, verdict: VerdictRecord) -> bool:
        """Whether a verdict has this fingerprint, whichever op it is that the difference begins at."""
        shown = fingerprint_of(self.backend, verdict)
        return self._replace(op="") in (shown, shown.of_any_op)

    @property
    def id(self) -> str:
        """The name of the finding: that of the backend, and a hash of the rest."""
        digest = hashlib.blake2b(msgspec.json.encode(tuple(self)), digest_size=4).hexdigest()
        return f"{plain_name(self.backend)}-{digest}"

    def judging(self, judging: Judging) -> Judging:
        """Return how a case is judged that is only asked whether it fails like this again.

        Of the laws by the broken one alone, and of the canaries by those of the family whose first one died.
        """
        law = self.where if self.where in LAWS else ""
        canary = self.where if self.kind == POISON else EVERY if self.where == BIRD else ""
        return replace(judging, laws=Sampling.NONE, law=law, nulls=Sampling.SOME, canary=canary)


def is_gross(verdict: VerdictRecord) -> bool:
    """Whether what differs is a number that rounding does not explain by far, `GROSS` times its bound."""
    found = verdict.mismatch
    return found is not None and found.kind == "value" and (found.ratio is None or found.ratio >= GROSS)


def chosen(found: MismatchRecord) -> str:
    """Return the choice that turned out otherwise than it was measured, and how."""
    return found.detail.partition(";")[0]


def fingerprint_of(backend: str, verdict: VerdictRecord) -> Fingerprint:
    """Read the fingerprint off a verdict."""
    found = verdict.mismatch
    if found is None:
        return Fingerprint(backend, verdict.bucket)
    message = ""
    if found.kind == CRASH:  # it has the frame: two crashes in different places are two failures
        message = found.detail
    elif found.kind == CONVENTION:
        message = chosen(found)
    elif found.actual == "unmapped":
        message = re.sub(r"[^A-Za-z ]+", "#", found.detail.splitlines()[0])[:80]
    return Fingerprint(backend, verdict.bucket, found.at, found.kind, found.where, found.expected, found.actual, message)
