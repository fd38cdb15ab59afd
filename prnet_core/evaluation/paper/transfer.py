"""Transfer of the frozen features to classification: global pooling and a linear SVM."""

import numpy as np
import torch
from tqdm import tqdm

from prnet_core.evaluation.paper.setup import Setup
from prnet_core.evaluation.published import LINEAR_SVM_ACCURACY
from prnet_core.evaluation.table import Column, Table
from prnet_core.model import PRNet
from prnet_core.shapes.load import load_shapes
from prnet_core.shapes.shape_sets import ShapeSet

NUM_POINTS = 512
CHUNK = 8
CURATED_SOURCES = ("sweethome3d", "ldraw_parts", "kaykit_cc0", "flightgear")
MIN_PER_CLASS = 20
DEFAULT_TRAIN_SHAPES = 1000
ROTATIONS = ("z/z", "SO3/SO3")


def transfer_table(setup: Setup) -> Table:
    """Accuracy on held-out shapes for the given weights and for an untrained network.

    Raises ImportError without scikit-learn (the extra "svm").
    """
    import sklearn.svm  # noqa: F401  fail before the work

    network = setup.network()
    torch.manual_seed(0)
    untrained = PRNet(network.config).to(next(network.parameters()).device).eval()
    rows = []
    for data, train, test in _parts(setup):
        for rotation in ROTATIONS:
            for name, model in (("prnet", network), ("untrained", untrained)):
                scores = _classify(model, train, test, rotation, f"{data}, {rotation}, {name}")
                rows.append({"method": f"{data}, {rotation}, {name}"} | scores)
            rows.append({"method": f"{data}, {rotation}, most frequent class"} | _most_frequent(train, test))
    columns = (
        Column("accuracy", "accuracy", "{:.1%}"),
        Column("class_mean_accuracy", "mean over classes", "{:.1%}"),
        Column("num_classes", "classes", "{}"),
        Column("num_train", "train", "{}"),
        Column("num_test", "test", "{}"),
    )
    published = [
        {"method": f"PRNet, all of ModelNet40, {name} (paper)", "accuracy": value}
        for name, value in LINEAR_SVM_ACCURACY.items()
    ]
    notes = (
        "Features: mean and maximum over 512 points of the DGCNN's features; linear SVM. z/z: train and test shapes "
        "rotated about z; SO3/SO3: rotated at random. Nearly half of our ModelNet40 test part are aeroplanes, so "
        "compare the mean over classes with the most frequent class.",
    )
    return Table("Transfer to classification", setup.command, rows, columns, published, setup.settings(), notes)


def _parts(setup: Setup) -> list[tuple[str, ShapeSet, ShapeSet]]:
    limit = setup.limit or (24 if setup.quick else DEFAULT_TRAIN_SHAPES)
    parts = []
    if setup.split:
        train, test = load_shapes(setup.data, "train"), load_shapes(setup.data, "test")
        parts.append((setup.data.stem, _spread(train, limit), _spread(test, limit)))
    if setup.train_data is not None:
        shapes = load_shapes(setup.train_data)
        curated = np.isin(shapes.sources, CURATED_SOURCES) & (shapes.classes != "")
        names, counts = np.unique(shapes.classes[curated], return_counts=True)
        shapes = shapes.select(curated & np.isin(shapes.classes, names[counts >= MIN_PER_CLASS]))
        if len(shapes):
            held_out = np.arange(len(shapes)) % 5 == 4
            part = _spread(shapes.select(~held_out), limit), _spread(shapes.select(held_out), limit)
            parts.append((f"{setup.train_data.stem}, curated classes", *part))
    if not parts:
        raise ValueError("nothing to classify: data with train and test splits, or --train-data with class labels")
    return parts


def _spread(shapes: ShapeSet, limit: int) -> ShapeSet:
    if len(shapes) <= limit:
        return shapes
    return shapes.select(np.linspace(0, len(shapes) - 1, limit).round().astype(int))


def _classify(network: PRNet, train: ShapeSet, test: ShapeSet, rotation: str, title: str) -> dict:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    rng = np.random.default_rng(0)
    features = [global_features(network, rotated(shapes.points, rotation, rng), title) for shapes in (train, test)]
    classifier = make_pipeline(StandardScaler(), LinearSVC(C=0.01, dual="auto", random_state=0))
    classifier.fit(features[0], train.classes)
    return _scores(classifier.predict(features[1]), train, test)


def _most_frequent(train: ShapeSet, test: ShapeSet) -> dict:
    names, counts = np.unique(train.classes, return_counts=True)
    return _scores(np.full(len(test), names[counts.argmax()]), train, test)


def _scores(predicted: np.ndarray, train: ShapeSet, test: ShapeSet) -> dict:
    correct = predicted == test.classes
    by_class = [correct[test.classes == name].mean() for name in np.unique(test.classes)]
    return {
        "accuracy": float(correct.mean()),
        "class_mean_accuracy": float(np.mean(by_class)),
        "num_classes": len(np.unique(train.classes)),
        "num_train": len(train),
        "num_test": len(test),
    }


def rotated(points: np.ndarray, rotation: str, rng: np.random.Generator) -> np.ndarray:
    """Each shape of (n, P, 3) rotated at random: about z ("z/z"), or uniformly over SO(3)."""
    from scipy.spatial.transform import Rotation

    if rotation == "z/z":
        rotations = Rotation.from_rotvec(rng.uniform(0, 2 * np.pi, (len(points), 1)) * [0.0, 0.0, 1.0])
    else:
        rotations = Rotation.random(len(points), random_state=rng)
    return np.einsum("nij,npj->npi", rotations.as_matrix(), points).astype(np.float32)


@torch.no_grad()
def global_features(network: PRNet, points: np.ndarray, title: str = "features") -> np.ndarray:
    """(n, P, 3) -> (n, 2 C): mean and maximum of the DGCNN's features over the first 512 points."""
    device = next(network.parameters()).device
    network.eval()
    pooled = []
    for start in tqdm(range(0, len(points), CHUNK), desc=title, leave=False):
        clouds = torch.from_numpy(points[start : start + CHUNK, :NUM_POINTS]).to(device)
        features = network.dgcnn(clouds)
        pooled.append(torch.cat([features.mean(dim=1), features.amax(dim=1)], dim=-1).float().cpu().numpy())
    return np.concatenate(pooled)
