"""Configuration files: complete, checked, and the recipes they claim to be."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest

import prnet_core.evaluation.baselines  # noqa: F401  adds its networks to the methods
from prnet_core.model import PRNetConfig
from prnet_core.training import TrainingConfig, load_training_config, make_training_config

CONFIGS = Path(__file__).parents[3] / "configs"


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_file_is_read_and_round_trips(path):
    config = load_training_config(path)
    assert make_training_config(asdict(config)) == config


def test_the_paper_recipe_has_the_papers_numbers():
    config = load_training_config(CONFIGS / "paper.yaml")
    assert config.network == replace(PRNetConfig.paper(), loss_form="printed")
    assert (config.network.num_passes, config.network.discount, config.network.matching_weight) == (3, 0.9, 0.0)
    assert (config.network.cycle_weight, config.network.global_feature_weight) == (0.1, 0.1)
    assert config.num_passes == 3 and not config.pairs.drawn_misalignment
    assert (config.pairs.num_points, config.pairs.keep_share, config.pairs.max_angle_deg) == (1024, 0.75, 45.0)
    assert (config.optimiser, config.learning_rate, config.schedule) == ("adam", 1e-3, "steps")
    assert config.milestones == (0.3, 0.6, 0.8) and config.clip is None and not config.bfloat16
    epochs = config.steps * config.batch_size / 9843
    assert epochs == pytest.approx(100, abs=0.5)


def test_the_last_stage_continues_the_small_recipe():
    first, last = (load_training_config(CONFIGS / f"{name}.yaml") for name in ("small", "small_last_stage"))
    assert last.network == first.network
    assert (last.pairs.num_points, last.num_passes) == (1024, 3)
    assert last.learning_rate < first.learning_rate and last.init_from


def test_overrides_win_and_none_does_not(write_config):
    path = write_config({"max_minutes": 5.0, "steps": 7})
    assert load_training_config(path, max_minutes=2.0).max_minutes == 2.0
    assert load_training_config(path, max_minutes=None).max_minutes == 5.0


def test_the_defaults_of_a_network_are_its_presets():
    assert make_training_config({"network": {"preset": "small"}}).network == PRNetConfig.small()
    changed = make_training_config({"network": {"preset": "small", "num_neighbours": 12}}).network
    assert changed.num_neighbours == 12 and changed.embedding == PRNetConfig.small().embedding
    assert make_training_config({}) == TrainingConfig()


@pytest.mark.parametrize("text", ["a: [", "- 1"])
def test_a_file_that_holds_no_settings_is_named(tmp_path, text):
    (tmp_path / "bad.yaml").write_text(text)
    with pytest.raises(ValueError, match="bad.yaml"):
        load_training_config(tmp_path / "bad.yaml")


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"learning_rte": 0.1}, "learning_rte"),
        ({"pairs": {"noise": 0.1}}, "pairs.noise"),
        ({"network": {"depth": 3}}, "depth"),
        ({"learning_rate": "1e-3"}, "learning_rate must be float, got '1e-3'"),
        ({"batch_size": 4.5}, "batch_size must be int"),
        ({"bfloat16": 1}, "bfloat16 must be bool"),
        ({"schedule": "linear"}, "schedule must be one of"),
        ({"method": "icp"}, "unknown method 'icp'"),
        ({"batch_size": 0}, "at least 1"),
    ],
)
def test_what_is_incorrect_is_named(values, text):
    with pytest.raises(ValueError, match=text):
        make_training_config(values)
