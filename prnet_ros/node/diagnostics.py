"""The state of the odometry as a diagnostic_msgs status."""

from collections import Counter
from dataclasses import dataclass

from diagnostic_msgs.msg import DiagnosticStatus, KeyValue

from prnet_ros.node.counters import Counts

OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR
BAD_CLOUD, CORE_ERROR = "bad_cloud.", "error."  # prefixes of counters, the kind follows
_COUNTERS = (
    "received",
    "registered",
    "first",
    "accepted",
    "weak",
    "ambiguous",
    "rejected",
    "dropped",
    "ignored",
    "reset",
    "outdated",
    "paused",
    "waiting_for_extrinsics",
    "missing_by_stamps",
    "too_fast",
    "process_restarts",
    "notes",
)
_NOT_USED = {  # counters of scans that were not used, with their text
    "rejected": "scans rejected",
    "ambiguous": "scans ambiguous",
    "weak": "scans weak",
    "too_fast": "implausible motions",
    "ignored": "scans ignored",
}


@dataclass(frozen=True)
class NodeState:
    """The state of the node, apart from the counters. Times in seconds of the steady clock.

    node_name: fully qualified. sensor_frame: frame of the clouds, empty before the first one.
    activity: 'active', or why no scans are registered: 'inactive', 'paused', 'loading'.
    missing_extrinsics: the transform that TF does not have yet, as text; empty when none is missing.
    setup_problem: what was requested and is not available, as text; empty when all is as requested.
    details: device, weights, ...
    """

    node_name: str
    topic: str
    sensor_frame: str
    activity: str
    num_publishers: int
    seconds_without_data: float
    no_data_timeout: float
    missing_extrinsics: str
    setup_problem: str
    details: dict[str, str]


def status_of(counts: Counts, earlier: Counts, state: NodeState) -> DiagnosticStatus:
    """One status: the worst problem first, then all counters.

    `earlier` are the counts of the last report: only what happened since then is a problem.
    """
    news = counts.since(earlier)
    problems = _problems(counts, news, state)
    level = max((level for level, _ in problems), default=OK)
    problems.sort(key=lambda problem: problem[0], reverse=True)
    if state.activity == "active":
        normal = f"{news['registered']} scans registered since the last report"
    else:
        normal = state.activity
    message = "; ".join(text for _, text in problems) or normal
    values = {name: counts.totals[name] for name in _COUNTERS}
    # Kinds of errors, and statuses that are not in _COUNTERS.
    values.update({n: c for n, c in sorted(counts.totals.items()) if n not in values and n != "incompatible_qos"})
    for name, quantile in (("latency_median_ms", 0.5), ("latency_p95_ms", 0.95)):
        latency = counts.latency(quantile)
        values[name] = "" if latency is None else f"{latency * 1e3:.1f}"
    values["last_note"] = counts.reasons.get("notes", "")
    values["activity"] = state.activity
    values["topic"] = state.topic
    values["frame"] = state.sensor_frame
    values["publishers"] = state.num_publishers
    values["seconds_without_data"] = f"{state.seconds_without_data:.1f}"
    values.update(state.details)
    return make_status(f"{state.node_name}: odometry", level, message, values, state.sensor_frame)


def make_status(name: str, level: bytes, message: str, values: dict, hardware_id: str = "") -> DiagnosticStatus:
    """A status with these values as text."""
    pairs = [KeyValue(key=key, value=str(value)) for key, value in values.items()]
    return DiagnosticStatus(level=level, name=name, message=message, hardware_id=hardware_id, values=pairs)


def _problems(counts: Counts, news: Counter[str], state: NodeState) -> list[tuple[bytes, str]]:
    problems = []

    def found(level: bytes, text: str, reason_of: str = "") -> None:
        reason = counts.reasons.get(reason_of, "")
        problems.append((level, f"{text}: {reason}" if reason else text))

    if state.setup_problem:
        found(ERROR, state.setup_problem)
    if state.missing_extrinsics:
        found(ERROR, f"nothing is published: {state.missing_extrinsics}")
    if news["process_restarts"]:
        found(ERROR, "the registration process was restarted", "process_restarts")
    if state.activity == "active" and state.seconds_without_data > state.no_data_timeout:
        text = f"no data for {state.seconds_without_data:.0f} s on {state.topic} ({state.num_publishers} publishers)"
        if state.num_publishers and not counts.totals["received"]:
            text += "; DDS may lose large clouds: see Large clouds in docs/node.md"
        found(WARN, text, "incompatible_qos")
    for name, number in sorted(news.items()):
        if name.startswith(CORE_ERROR):
            found(ERROR, f"{number} x {name.removeprefix(CORE_ERROR)}", name)
        elif name.startswith(BAD_CLOUD):
            found(WARN, f"{number} unusable clouds ({name.removeprefix(BAD_CLOUD)})", name)
        elif name in _NOT_USED:
            found(WARN, f"{number} {_NOT_USED[name]}", name)
    if news["dropped"]:
        found(WARN, f"{news['dropped']} scans dropped for newer ones: they come faster than they are registered")
    if news["missing_by_stamps"]:
        found(WARN, f"about {news['missing_by_stamps']} scans never arrived, by the stamps of the others")
    if news["reset"]:
        found(WARN, "a new trajectory was started", "reset")
    return problems
