"""The tables of the odometry benchmark in Markdown."""

from results_page import table

COLUMNS = (
    ("lost", "lost", "{:d}"),
    ("drift %", "drift", "{:.2f}"),
    ("ATE m", "ate", "{:.3f}"),
    ("RPE 1 m", "rpe_1", "{:.4f}"),
    ("RPE 1 deg", "rpe_1_deg", "{:.3f}"),
    ("RPE 10 m", "rpe_10", "{:.4f}"),
    ("RPE 10 deg", "rpe_10_deg", "{:.3f}"),
    ("end m", "end", "{:.3f}"),
    ("end deg", "end_deg", "{:.2f}"),
)
OURS = "prnet_ros"
ERRORS = (("drift", "drift, %"), ("ate", "ATE, m"), ("end", "end, m"))  # in the summary, the first that is known
REFERENCE = 1e-6  # an error below it is that of the reference itself
TIMES = (("median ms", "median"), ("p95 ms", "p95"), ("p99 ms", "p99"))


def to_markdown(results: dict[str, dict], command: str) -> str:
    """One table a sequence; results, by the name of the sequence: its rows, and on which machine they were measured."""
    lines = [
        "# Odometry over sequences",
        "",
        f"`{command}`",
        "",
        "Drift: mean translation error over segments of 2 to 100 m of the path, as KITTI has it. ATE after rigid",
        "alignment; RPE root mean square over 1 and 10 scans. End: the relative pose of the first and the last scan;",
        "of the street recording (`--street`, 154 scans of a car, without point times and not deskewed) against",
        "KISS-ICP's over all its scans. That is no ground truth: KISS-ICP and GenZ-ICP do not deskew these scans, ours",
        "does. [Direct registration](street_reference.md) of its scans shows that ours is nearer to the truth. In the",
        "corridor of the building a person walks ahead of the depth camera as fast as it moves, and nothing else",
        "constrains the translation along the smooth walls: no method follows.",
        "Times: CPU milliseconds a scan on one thread. Memory: growth of the process in MB. Peers: the better of two",
        "voxel sizes, the first threshold by the rate, their poses compared with the ground truth at the start, middle",
        "or end of the sweep, whichever fits best. The Livox-like office with seeds 17, 65, 67 and 72: the narrow view",
        "turns away from all that was seen. Rows are of several days and machines: times compare within a row alone.",
    ]
    lines += ["", *summary(results)]
    headings = ["method", *(name for name, _, _ in COLUMNS), *(name for name, _ in TIMES), "memory MB"]
    for sequence, result in results.items():
        rows = []
        for row in result["rows"]:
            cells = ["" if row[key] is None else form.format(row[key]) for _, key, form in COLUMNS]
            rows.append([row["method"], *cells, *(f"{1e3 * row[key]:.0f}" for _, key in TIMES), f"{row['memory']:.0f}"])
        lines += ["", f"## {sequence}", "", result["measured"], "", *table(headings, rows)]
    return "\n".join(lines) + "\n"


def summary(results: dict[str, dict]) -> list[str]:
    """One line a sequence: our drift or, where the path is too short for one, ATE, beside the best peer's; times."""
    rows = []
    for sequence, result in results.items():
        peers = [row for row in result["rows"] if not row["method"].startswith(OURS)]
        ours = next(row for row in result["rows"] if row["method"].startswith(OURS))
        kiss = [f"{1e3 * row['median']:.0f}" for row in peers if row["method"].startswith("KISS-ICP")]
        key, name = next((key, name) for key, name in ERRORS if ours[key] is not None)
        best = min((row[key] for row in peers if (row[key] or 0.0) > REFERENCE), default=None)
        cells = [sequence, name, f"{ours[key]:.3f}", "" if best is None else f"{best:.3f}", str(ours["lost"])]
        cells += [f"{1e3 * ours['median']:.0f}", *(kiss or [""]), f"{ours['p99'] / ours['median']:.1f}"]
        rows.append(cells)
    headings = ("sequence", "error", "ours", "best peer", "lost", "median ms", "KISS-ICP's", "p99 / median")
    return table(headings, rows)
