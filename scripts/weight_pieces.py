"""Weights in pieces, for ways that carry no large files.

python scripts/weight_pieces.py split WEIGHTS.safetensors FOLDER
python scripts/weight_pieces.py join FOLDER/WEIGHTS-*-of-*.safetensors WEIGHTS.safetensors
"""

import argparse
from pathlib import Path

from safetensors import safe_open
from safetensors.torch import save_file

MAX_BYTES = 15_500_000


def split(path: Path, folder: Path, max_bytes: int = MAX_BYTES) -> list[Path]:
    """Write NAME-1-of-N.safetensors..., whole tensors in order, each piece at most max_bytes of them.

    Raises ValueError for a tensor that alone is larger.
    """
    tensors, metadata = _read(path)
    groups: list[dict] = [{}]
    size = 0
    for name, tensor in tensors.items():
        if tensor.nbytes > max_bytes:
            raise ValueError(f"{name} has {tensor.nbytes} bytes, more than a piece of {max_bytes}")
        if size + tensor.nbytes > max_bytes:
            groups.append({})
            size = 0
        groups[-1][name] = tensor
        size += tensor.nbytes
    folder.mkdir(parents=True, exist_ok=True)
    pieces = [folder / f"{path.stem}-{i}-of-{len(groups)}.safetensors" for i in range(1, len(groups) + 1)]
    for piece, group in zip(pieces, groups):
        save_file(group, piece, metadata)
    return pieces


def join(pieces: list[Path], path: Path) -> None:
    """Inverse of `split`, in any order. Raises ValueError when a piece is missing or of other weights."""
    total = {int(piece.stem.rsplit("-of-", 1)[1]) for piece in pieces}
    if total != {len(pieces)}:
        raise ValueError(f"{len(pieces)} pieces given, their names say {sorted(total)}")
    tensors, metadatas = {}, []
    for piece in pieces:
        part, metadata = _read(piece)
        tensors |= part
        metadatas.append(metadata)
    if any(metadata != metadatas[0] for metadata in metadatas):
        raise ValueError("the pieces are of different weights")
    save_file(tensors, path, metadatas[0])


def _read(path: Path) -> tuple[dict, dict]:
    with safe_open(path, framework="pt") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("split", "join"))
    parser.add_argument("inputs", type=Path, nargs="+")
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    if arguments.action == "join":
        join(arguments.inputs, arguments.output)
        return
    for path in arguments.inputs:
        print(*split(path, arguments.output))


if __name__ == "__main__":
    main()
