"""The authors' PRNet on a CPU, from a copy of github.com/WangYueFt/prnet: nothing of it is in this repository."""

import sys
import types
from pathlib import Path

import torch

SETTINGS = {
    "n_emb_dims": 512, "n_blocks": 1, "n_heads": 4, "n_ff_dims": 1024, "dropout": 0.0, "n_keypoints": 512,
    "n_subsampled_points": 768, "emb_nn": "dgcnn", "attention": "transformer", "head": "svd", "temp_factor": 100,
    "cat_sampler": "gumbel_softmax", "n_iters": 3, "discount_factor": 0.9, "model_path": "",
    "feature_alignment_loss": 0.1, "cycle_consistency_loss": 0.1,
}  # fmt: skip
"""The defaults of their main.py."""
FOR_CPU = (("torch.device('cuda')", "torch.device('cpu')"), (".cuda()", ""), ("is not ''", "!= ''"))


class _Silent:
    """Their logger writes into a folder; this one does nothing."""

    def __init__(self, *_):
        pass

    def write(self, *_):
        pass


def authors_network(folder: Path):
    """Their network with their default settings and random weights; raises FileNotFoundError without their files.

    Their code is unchanged except for the device. `.predict(source, target, 3)` takes clouds (B, 3, N).
    """
    for name, members in (("h5py", {}), ("sklearn", {}), ("sklearn.metrics", {"r2_score": None})):
        if name not in sys.modules:
            stub = types.ModuleType(name)
            vars(stub).update(members)
            sys.modules[name] = stub
    for name in ("util", "model"):
        text = (folder / f"{name}.py").read_text()
        for old, new in FOR_CPU:
            text = text.replace(old, new)
        module = types.ModuleType(name)
        sys.modules[name] = module
        exec(compile(text, f"{name}.py", "exec"), vars(module))
    module.Logger = _Silent
    torch.manual_seed(0)
    return module.PRNet(types.SimpleNamespace(**SETTINGS)).eval()
