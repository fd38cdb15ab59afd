"""How the odometry goes, as a diagnostic_msgs status."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from diagnostic_msgs.msg import DiagnosticStatus, KeyValue

from prnet_ros.node.counters import Counts

OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR
BAD_CLOUD, CORE_ERROR = "bad_cloud.", "error."  # prefixes of counters, the kind follows
_COUNTERS = (
    "received", "registered", "first", "accepted", "weak", "rejected", "dropped", "ignored", "reset",
    "outdated", "waiting_for_mount", "missing_by_stamps", "too_fast",
)


@dataclass(frozen=True)
class Situation:
    """What the counters do not know. Times in seconds of the steady clock."""

    topic: str
    num_publishers: int
    seconds_without_data: float
    no_data_timeout: float
    missing_mount: str  # the mount that TF does not know yet, in words; empty when none is missing
    setup_problem: str  # what was asked for and is not to be had, in words; empty when all is as asked
    details: dict[str, str]  # device, weights, frames, ...


def status_of(counts: Counts, earlier: Counts, situation: Situation) -> DiagnosticStatus:
    """One status: the worst problem first, then all counters.

    `earlier` are the counts of the last report: what only happened before is no problem any more.
    """
    news = counts.since(earlier)
    problems = _problems(counts, news, situation)
    level = max((level for level, _ in problems), default=OK)
    problems.sort(key=lambda problem: problem[0], reverse=True)
    going_well = f"{news['registered']} scans registered since the last report"
    message = "; ".join(text for _, text in problems) or going_well
    values = {name: counts.totals[name] for name in _COUNTERS}
    values.update({n: c for n, c in sorted(counts.totals.items()) if n.startswith((BAD_CLOUD, CORE_ERROR))})
    for name, quantile in (("latency_median_ms", 0.5), ("latency_p95_ms", 0.95)):
        latency = counts.latency(quantile)
        values[name] = "" if latency is None else f"{latency * 1e3:.1f}"
    values["topic"] = situation.topic
    values["publishers"] = situation.num_publishers
    values["seconds_without_data"] = f"{situation.seconds_without_data:.1f}"
    values.update(situation.details)
    return DiagnosticStatus(
        level=level,
        name="prnet: odometry",
        message=message,
        hardware_id=situation.topic,
        values=[KeyValue(key=key, value=str(value)) for key, value in values.items()],
    )


def _problems(counts: Counts, news: Counter[str], situation: Situation) -> list[tuple[bytes, str]]:
    problems = []

    def found(level: bytes, text: str, reason_of: str = "") -> None:
        reason = counts.reasons.get(reason_of, "")
        problems.append((level, f"{text}: {reason}" if reason else text))

    if situation.setup_problem:
        found(ERROR, situation.setup_problem)
    if situation.missing_mount:
        found(ERROR, f"nothing is published: {situation.missing_mount}")
    if situation.seconds_without_data > situation.no_data_timeout:
        found(
            WARN,
            f"no data for {situation.seconds_without_data:.0f} s on {situation.topic} "
            f"({situation.num_publishers} publishers)",
            "incompatible_qos",
        )
    for name, number in sorted(news.items()):
        if name.startswith(CORE_ERROR):
            found(ERROR, f"{number} x {name.removeprefix(CORE_ERROR)}", name)
        elif name.startswith(BAD_CLOUD):
            found(WARN, f"{number} unusable clouds ({name.removeprefix(BAD_CLOUD)})", name)
    if news["rejected"]:
        found(WARN, f"{news['rejected']} scans rejected", "rejected")
    if news["weak"]:
        found(WARN, f"{news['weak']} scans weak", "weak")
    if news["too_fast"]:
        found(WARN, f"{news['too_fast']} implausible motions", "too_fast")
    if news["ignored"]:
        found(WARN, f"{news['ignored']} scans ignored", "ignored")
    if news["dropped"]:
        found(WARN, f"{news['dropped']} scans dropped for newer ones: they come faster than they are registered")
    if news["missing_by_stamps"]:
        found(WARN, f"about {news['missing_by_stamps']} scans never arrived, by the stamps of the others")
    if news["reset"]:
        found(WARN, "started anew", "reset")
    return problems
