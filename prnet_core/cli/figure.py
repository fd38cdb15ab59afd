"""`prnet figure`: figures of keypoints, correspondences and registered scans."""

from pathlib import Path

import typer

from prnet_core.cli.errors import check_picture, one_line_errors
from prnet_core.cli.options import DEVICE

NAMES = ("keypoints", "consistency", "correspondences", "bunny")


@one_line_errors("figure")
def figure(
    name: str = typer.Argument(..., help=", ".join(NAMES)),
    data: Path = typer.Option(..., help="Shapes (as for `prnet evaluate`); for bunny, the folder of the scans."),
    out: Path = typer.Option(..., help="Output file: .png, .svg or .pdf."),
    split: str = typer.Option(None, help="Split of the shapes."),
    index: int = typer.Option(0, min=0, help="Index of the shape."),
    other: int = typer.Option(None, help="Second shape of correspondences. Default: the next of the class."),
    weights: Path = typer.Option(None, help="Weights file. Default: the packaged weights."),
    device: str = DEVICE,
) -> None:
    """Draw a figure to a file and print its measurements as JSON."""
    import json

    from prnet_core.model import load_network

    check_picture(out)
    if name not in NAMES:
        raise ValueError(f"unknown figure {name!r}: {', '.join(NAMES)}")
    network = load_network(weights, device)
    if name == "bunny":
        from prnet_core.evaluation.figures.bunny import draw_bunny
        from prnet_core.registration import Registration

        measured = draw_bunny(Registration(network), data, out)
    else:
        measured = _shape_figure(name, network, data, split, index, other, out)
    typer.echo(json.dumps({"figure": name, "file": str(out), "measured": measured}, indent=1))


def _shape_figure(name: str, network, data: Path, split: str | None, index: int, other: int | None, out: Path):
    from prnet_core.evaluation.figures import correspondences, keypoints
    from prnet_core.shapes.load import load_shapes

    shapes = load_shapes(data, split)
    for wanted in (index, other or 0):
        if wanted >= len(shapes):
            raise ValueError(f"{data} has {len(shapes)} shapes; no index {wanted}")
    if name == "correspondences":
        if other is None:
            same = [i for i in range(len(shapes)) if i != index and shapes.classes[i] == shapes.classes[index]]
            if not same:
                raise ValueError(f"no second shape of class {shapes.classes[index]!r}")
            other = next((i for i in same if i > index), same[0])
        lines = correspondences.draw_correspondences(network, shapes.points[index], shapes.points[other], out)
        return {"first": str(shapes.names[index]), "second": str(shapes.names[other]), "lines": lines}
    draw = keypoints.draw_keypoints if name == "keypoints" else keypoints.draw_consistency
    return {"shape": str(shapes.names[index])} | draw(network, shapes.points[index], index, out)
