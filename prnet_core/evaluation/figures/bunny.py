"""The paper's real scans: partial views of the Stanford bunny, before and after registration."""

from pathlib import Path

import numpy as np

from prnet_core.evaluation.figures.canvas import draw_cloud, new_figure, save
from prnet_core.geometry import se3
from prnet_core.io.scan_folders import ScanFolder
from prnet_core.registration import Registration

STEPS = (("bun045", "bun000"), ("bun090", "bun045"), ("bun315", "bun000"), ("bun270", "bun315"))
COLORS = ("#2f6fb5", "#e0812b", "#3c9d6b", "#b04a86", "#7a6a58")
VIEW = np.eye(3)
MAX_DRAWN = 6000


def draw_bunny(registration: Registration, folder: str | Path, path: str | Path) -> list[dict]:
    """Register neighbouring turntable scans in `folder` (`ScanFolder`) and draw them.

    Writes `path`. Returns for each step: source, target, status, error_deg and error_m against poses.txt.
    """
    recorded = ScanFolder(folder)
    index = {file.stem: number for number, file in enumerate(recorded.files)}
    wanted = ["bun000", *(source for source, _ in STEPS)]
    scans = {name: recorded[index[name]] for name in wanted}
    placed, report = {"bun000": np.eye(4)}, []
    for source, target in STEPS:
        result = registration.register(scans[source], scans[target])
        placed[source] = placed[target] @ result.T_target_source
        T_true = se3.invert(recorded.poses[index[target]]) @ recorded.poses[index[source]]
        error_m, angle = se3.difference(T_true, result.T_target_source)
        errors = {"error_deg": float(np.degrees(angle)), "error_m": error_m}
        report.append({"source": source, "target": target, "status": result.status} | errors)
    figure, axes = new_figure(1, 2, 4.0)
    for one, title, moved in ((axes[0, 0], "five scans, input", False), (axes[0, 1], "registered", True)):
        for name, color in zip(wanted, COLORS, strict=True):
            points = scans[name][:: max(1, len(scans[name]) // MAX_DRAWN)]
            draw_cloud(one, se3.apply(placed[name], points) if moved else points, VIEW, color, size=1.2)
        one.set_title(title, fontsize=11)
    save(figure, path)
    return report
