"""Published results for comparison. All on ModelNet40 (12,311 shapes, 2,468 of them test).

Rotation in degrees of Euler angles, translation in units of the unit sphere.
"""

KEYS = ("rmse_r_deg", "mae_r_deg", "rmse_t", "mae_t", "r2_r")


def _row(method: str, *values: float) -> dict:
    return {"method": method, **dict(zip(KEYS, values, strict=False))}


UNSEEN_OBJECTS = [
    _row("ICP (PRNet paper)", 33.683, 25.045, 0.293, 0.250, -5.696),
    _row("Go-ICP (PRNet paper)", 13.999, 3.165, 0.033, 0.012, -0.157),
    _row("FGR (PRNet paper)", 11.238, 2.832, 0.030, 0.008, 0.256),
    _row("PointNetLK (PRNet paper)", 16.735, 7.550, 0.045, 0.025, -0.654),
    _row("DCP-v2 (PRNet paper)", 6.709, 4.448, 0.027, 0.020, 0.732),
    _row("PRNet (paper)", 3.199, 1.454, 0.016, 0.010, 0.939),
    _row("PRNet (independent rerun)", 3.02, 1.405, 0.0165, 0.0110),
    _row("IDAM (GNN)", 2.95, 0.76, 0.021, 0.005),
    _row("OMNet (without 8 axisymmetric classes)", 0.912, 0.339, 0.0078, 0.0049),
]
UNSEEN_CATEGORIES = [
    _row("ICP (PRNet paper)", 34.894, 25.455, 0.293, 0.251),
    _row("Go-ICP (PRNet paper)", 12.533, 2.940, 0.031, 0.010),
    _row("FGR (PRNet paper)", 9.932, 1.952, 0.038, 0.007),
    _row("PointNetLK (PRNet paper)", 22.943, 9.655, 0.061, 0.033),
    _row("DCP-v2 (PRNet paper)", 9.769, 6.954, 0.034, 0.025),
    _row("PRNet (paper)", 4.986, 2.329, 0.021, 0.015),
    _row("PRNet trained on ShapeNetCore (paper)", 3.953, 1.712, 0.017, 0.011),
    _row("IDAM (GNN)", 3.42, 0.93, 0.022, 0.005),
    _row("OMNet (without 8 axisymmetric classes)", 2.247, 0.652, 0.0177, 0.0077),
]
NOISE = [
    _row("ICP (PRNet paper)", 35.067, 25.564, 0.294, 0.250),
    _row("Go-ICP (PRNet paper)", 12.261, 2.845, 0.028, 0.029),
    _row("FGR (PRNet paper)", 27.653, 13.794, 0.070, 0.039),
    _row("PointNetLK (PRNet paper)", 19.939, 9.076, 0.057, 0.032),
    _row("DCP-v2 (PRNet paper)", 6.883, 4.534, 0.028, 0.021),
    _row("PRNet (paper)", 4.323, 2.051, 0.017, 0.012),
    _row("IDAM (GNN)", 3.72, 1.85, 0.023, 0.011),
    _row("OMNet (without 8 axisymmetric classes)", 1.029, 0.573, 0.0089, 0.0061),
]
TWICE_SAMPLED = [
    _row("OMNet, unseen objects, twice sampled and noise", 1.314, 0.771, 0.0102, 0.0074),
    _row("OMNet, unseen categories, twice sampled and noise", 2.443, 1.189, 0.0181, 0.0097),
]
FULL = [
    {"method": f"{name} (PRNet paper)", "mae_r_deg": value}
    for name, value in {
        "ICP": 25.2, "FGR": 2.088, "Go-ICP": 2.336, "PointNetLK": 3.478, "DCP-v2": 2.777, "PRNet": 0.960,
    }.items()
]  # fmt: skip

BY_PROTOCOL = {"objects": UNSEEN_OBJECTS, "noise": NOISE, "hard": TWICE_SAMPLED, "full": FULL}

MAE_R_DEG_BY_CHOICE = {
    "temperature": {"fixed": 1.659, "annealed": 1.630, "learned": 1.675, "predicted": 1.454},
    "keypoints": {"random": 1.689, "centrality": 2.109, "norm": 1.454},
    "num_keypoints": {16: 27.8, 32: 8.29, 64: 3.13, 128: 2.01, 256: 1.60, 384: 1.51, 512: 1.454},
    "discount": {0.5: 1.92, 0.7: 2.00, 0.9: 1.454, 0.99: 1.73},
    "missing": {0.25: 1.454, 0.5: 3.94, 0.75: 6.45},
    "noise_level": {0.01: 2.05, 0.1: 5.01, 0.5: 21.1},
}

LINEAR_SVM_ACCURACY = {"z/z": 0.852, "SO3/SO3": 0.805}

SECONDS_PER_PAIR = {
    "PRNet (GTX 1080 Ti)": {512: 0.042, 1024: 0.073, 2048: 0.152},
    "DCP-v2 (GTX 1080 Ti)": {512: 0.014, 1024: 0.024, 2048: 0.058},
    "PointNetLK (GTX 1080 Ti)": {512: 0.049, 1024: 0.061, 2048: 0.069},
    "ICP (CPU)": {512: 0.134, 1024: 0.170, 2048: 0.242},
    "FGR (CPU)": {512: 0.230, 1024: 0.250, 2048: 0.248},
    "Go-ICP (CPU)": {512: 14.8, 1024: 14.9, 2048: 14.9},
}
