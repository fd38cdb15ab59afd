"""The table and the plot at the top of docs/results/README.md, from the JSON files of the other results pages.

    python benchmarks/overview.py

Run it after renewing one of those files.
"""

import json
from pathlib import Path

from matplotlib.figure import Figure

from prnet_core.evaluation.paper.page import update_page

RESULTS = Path("docs/results")
PEERS = ("icp", "goicp", "fgr", "pointnetlk", "dcp")
LIDAR = {"1": "lidar, 1 apart", "3": "lidar, 3 apart", "6": "lidar, 6 apart", "10": "lidar, 10 apart"}
METHODS = {
    "GICP from centroid": "#999999",
    "FGR + GICP": "#3c9d6b",
    "RANSAC + GICP": "#7a6a58",
    "KISS-Matcher + GICP": "#b04a86",
    "prnet_ros, no network": "#7fb0dd",
    "prnet_ros": "#2f6fb5",
}


def load(name: str) -> dict:
    return json.loads((RESULTS / f"{name}.json").read_text())


def total(results: dict, method: str) -> tuple[float, float]:
    """Fraction of correct pairs over all sets, and mean CPU seconds per pair."""
    sets = [methods[method] for methods in results.values() if method in methods]
    pairs = sum(one["of"] for one in sets)
    seconds = sum(one["cpu_seconds"] * one["of"] for one in sets) / pairs
    return sum(one["correct"] for one in sets) / pairs, seconds


def draw(results: dict, path: Path) -> None:
    """Correct pairs against distance of the scans (overlap decreases), and accuracy against time."""
    figure = Figure(figsize=(9.0, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for method, color in METHODS.items():
        style = {"color": color, "linewidth": 2.4 if method == "prnet_ros" else 1.4}
        shares = [100 * results[name][method]["correct"] / results[name][method]["of"] for name in LIDAR.values()]
        left.plot(list(LIDAR), shares, marker="o", label=method, **style)
        fraction, seconds = total(results, method)
        right.scatter(seconds, 100 * fraction, s=60, color=color, zorder=3)
    left.set(xlabel="LiDAR scans apart (overlap decreases)", ylabel="correct pairs, %", ylim=(0, 105))
    right.set(xlabel="CPU seconds per pair", ylabel="correct pairs of all sets, %", xlim=(0, None))
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)


def paper_row(name: str, title: str, published: str) -> str:
    rows = {row["method"]: row for row in load(name)["rows"]}
    peers = {name: rows[name]["mae_r_deg"] for name in PEERS if name in rows}
    best = min(peers, key=peers.get)
    ours, refined = rows["prnet"]["mae_r_deg"], rows["prnet+refine"]["mae_r_deg"]
    values = f"{ours:.3f} (refined {refined:.3f}) | {best} {peers[best]:.3f}; {published}"
    return f"| {title} | MAE(R), deg | {values} | [table]({name}.md) |"


def pair_row(results: dict, title: str, names: list[str]) -> str:
    sets = [results[name] for name in names]
    counts = {name: tuple(sum(one[name][key] for one in sets) for key in ("correct", "of")) for name in METHODS}
    peer = max((m for m in METHODS if not m.startswith("prnet_ros")), key=lambda m: counts[m][0])
    ours, theirs = ("{}/{}".format(*counts[method]) for method in ("prnet_ros", peer))
    return f"| {title} | correct pairs | {ours} | {peer} {theirs} | [pairs](registration_pairs.md) |"


def main() -> None:
    results = load("registration_pairs")["results"]
    draw(results, RESULTS / "figures" / "overview.png")
    bunny = [name for name in results if name.startswith("bunny")]
    rows = [
        paper_row("unseen", "ModelNet40, unseen objects", "paper 1.454"),
        paper_row("noise", "ModelNet40, noise 0.01", "paper 2.051"),
        paper_row("full", "ModelNet40, full clouds", "paper 0.960"),
        paper_row("hard", "ModelNet40, independent views, noise", "OMNet 0.771"),
        pair_row(results, "Bunny scans, up to 180 deg", bunny),
        pair_row(results, "LiDAR, 1 and 3 scans apart", [LIDAR["1"], LIDAR["3"]]),
        pair_row(results, "LiDAR, 6 and 10 scans apart", [LIDAR["6"], LIDAR["10"]]),
        pair_row(results, "Street, car, room, depth camera", [name for name in results if name.startswith("street")]),
        odometry_row("simulated street, 32 beams, 100 scans, seed 7", "Odometry, simulated street, 32 beams at 10 Hz"),
        odometry_row("simulated office with people, 32 beams, 100 scans, seed 7", "Odometry, simulated office, people"),
        odometry_row("handheld LiDAR at 2 Hz", "Odometry, handheld LiDAR at 2 Hz"),
        speed_row(),
    ]
    head = ["| data | measure | prnet_ros | best peer here; published | details |", "|---|---|---:|---|---|"]
    update_page(RESULTS / "README.md", "overview", "## Overview\n\n" + "\n".join(head + rows) + "\n")


def odometry_row(name: str, title: str) -> str:
    rows = load("odometry_sequences")["sequences"][name]["rows"]
    ours = min((row for row in rows if row["method"].startswith("prnet_ros")), key=lambda row: row["drift"])
    peer = min((row for row in rows if not row["method"].startswith("prnet_ros")), key=lambda row: row["drift"])
    values = f"{ours['drift']:.2f} | {peer['method'].split(',')[0]} {peer['drift']:.2f}"
    return f"| {title} | drift, % of the path | {values} | [sequences](odometry_sequences.md) |"


def speed_row() -> str:
    row = next(row for row in load("efficiency")["rows"] if row["method"] == "prnet")
    values = f"{row['seconds_per_pair_1024']:.3f} | paper 0.073 (GTX 1080 Ti)"
    return f"| Network alone, 1024 points, CPU | s per pair | {values} | [times](efficiency.md) |"


if __name__ == "__main__":
    main()
