"""Pairs made of real scans: the transform and the matches they come with are true."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

from prnet_core.fine_tuning import FineTuneConfig, FineTuneError, ScanTransform  # noqa: E402
from prnet_core.fine_tuning.run import split_scans  # noqa: E402
from prnet_core.fine_tuning.scan_examples import ScanExamples, clean_scan, is_usable  # noqa: E402
from prnet_core.fine_tuning.scan_transforms import register_neighbours  # noqa: E402
from prnet_core.geometry import se3  # noqa: E402
from prnet_core.registration import Registration  # noqa: E402

CONFIG = FineTuneConfig(num_points=256)


def distances(pair):
    """Of the moved source points to their matches, where they have one."""
    moved = se3.apply(pair.T_target_source, pair.source.astype(float))
    known = pair.matches >= 0
    return np.linalg.norm(moved[known] - pair.target[pair.matches[known]], axis=1)


@pytest.mark.parametrize("augment", [True, False])
def test_pairs_of_one_scan_overlap_in_part_and_turn_as_asked(room_scans, augment):
    examples = ScanExamples(room_scans[0], [], CONFIG, augment)
    rng = np.random.default_rng(0)
    pairs = [examples.draw(index % len(examples), rng) for index in range(40)]
    overlaps = np.array([(pair.matches >= 0).mean() for pair in pairs])
    angles = np.degrees([se3.rotation_angle(pair.T_target_source[:3, :3]) for pair in pairs])
    assert overlaps.min() >= CONFIG.min_overlap and overlaps.mean() < 0.9
    assert angles.max() > 90.0
    for pair in pairs:
        assert pair.source.shape == pair.target.shape == (256, 3) and pair.source.dtype == np.float32
        assert np.linalg.det(pair.T_target_source[:3, :3]) == pytest.approx(1.0)
        assert distances(pair).max() < 0.15
        # no point is in both clouds
        assert distances(pair).min() > 1e-6


def test_angles_stay_within_what_is_asked_for(room_scans):
    config = replace(CONFIG, max_angle_deg=40.0, near_share=0.5, near_deg=10.0)
    examples = ScanExamples(room_scans[0], [], config, augment=True)
    rng = np.random.default_rng(0)
    pairs = [examples.draw(0, rng) for _ in range(40)]
    angles = np.degrees([se3.rotation_angle(pair.T_target_source[:3, :3]) for pair in pairs])
    assert 10.0 < angles.max() <= 40.0 and 0.4 < (angles < 10.0).mean() < 0.9


def test_hidden_points_are_left_out_of_a_part(room_scans):
    """A sphere seen from one side: its far side is not in the part, whatever the crop leaves."""
    rng = np.random.default_rng(0)
    sphere = rng.normal(size=(8000, 3))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    examples = ScanExamples([sphere], [], replace(CONFIG, hidden_share=1.0, min_keep=1.0), augment=False)
    part = examples._part(sphere, rng)
    towards = part.mean(axis=0) / np.linalg.norm(part.mean(axis=0))
    assert 0.25 < len(part) / len(sphere) < 0.6
    assert np.quantile(part @ towards, 0.05) > 0.0


def test_far_returns_cost_no_memory(room_scans):
    """The image of the camera that hides points is as large as its view, not as the scan."""
    scan = room_scans[0][0].copy()
    scan[:20] *= 1e7
    examples = ScanExamples([scan], [], replace(CONFIG, hidden_share=1.0), augment=False)
    rng = np.random.default_rng(0)
    assert all(50 < len(examples._part(scan, rng)) < len(scan) for _ in range(10))


def test_a_covered_sensors_scan_can_be_drawn_from():
    """Nearly all of its points are one and the same."""
    points = clean_scan(np.vstack([np.ones((3000, 3)), np.random.default_rng(0).normal(size=(120, 3))]), None)
    assert len(points) == 121 and is_usable(points)
    examples = ScanExamples([points], [], replace(CONFIG, hidden_share=1.0), augment=False)
    rng = np.random.default_rng(0)
    assert all(len(examples._part(points, rng)) > 10 for _ in range(10))
    assert not is_usable(clean_scan(np.ones((3000, 3)), None))


def test_pairs_of_two_scans_follow_the_known_motion(room_scans):
    scans, transforms = room_scans
    examples = ScanExamples(scans, transforms, CONFIG, augment=False)
    rng = np.random.default_rng(1)
    for transform in transforms:
        pair = examples.of_two_scans(transform, rng)
        assert (pair.matches >= 0).mean() > 0.5
        assert distances(pair).max() < 0.15


def test_known_motions_are_used_for_about_their_share(room_scans):
    scans, transforms = room_scans
    examples = ScanExamples(scans, transforms, replace(CONFIG, known_transform_share=1.0, num_points=64), augment=False)
    used = []
    examples.of_two_scans = lambda known, rng: used.append(known) or ScanExamples.of_two_scans(examples, known, rng)
    rng = np.random.default_rng(2)
    for _ in range(10):
        examples.draw(3, rng)
    examples.draw(0, rng)  # the source of no transform
    assert len(used) == 10 and {transform.source for transform in used} == {3}


def test_held_out_scans_are_spread_and_what_touches_them_is_for_validation_only(room_scans):
    scans, transforms = room_scans
    tuned, held_out = split_scans(scans * 2, transforms, FineTuneConfig(held_out_share=0.25))
    assert (len(tuned), len(held_out)) == (9, 3)
    assert not set(tuned.sources) & set(held_out.sources)
    for part in (tuned, held_out):
        for source, transforms_of in part.transforms_of.items():
            assert source in part.sources
            for transform in transforms_of:
                assert part is held_out or transform.target in tuned.sources
                assert distances(part.of_two_scans(transform, np.random.default_rng(0))).max() < 0.15
    assert held_out.num_transforms > 0 and tuned.num_transforms > 0


def test_transforms_between_neighbours_are_found_by_registration(room_scans):
    scans, transforms = room_scans
    found = register_neighbours(scans, Registration(None), reach=1)
    known = {(transform.source, transform.target): transform.T_target_source for transform in transforms}
    known |= {(target, source): se3.invert(T) for (source, target), T in known.items()}
    assert len(found) > 4
    for transform in found:
        difference = se3.invert(known[transform.source, transform.target]) @ transform.T_target_source
        assert abs(transform.source - transform.target) == 1
        assert np.linalg.norm(difference[:3, 3]) < 0.05 and se3.rotation_angle(difference[:3, :3]) < 0.02


def test_neighbours_that_are_scans_are_verified_by_free_space(room_scans):
    def violations(scans):
        found = []

        class Recorder(Registration):
            def register(self, *args, **options):
                result = super().register(*args, **options)
                found.append(result.violation)
                return result

        register_neighbours(scans, Recorder(None), reach=1)
        return found

    scans = room_scans[0][:2]
    assert violations(scans)[0] is not None
    assert violations([0.1 * scan for scan in scans])[0] is None


def test_motion_between_scans_that_are_not_there_is_refused(room_scans):
    with pytest.raises(FineTuneError, match="from 9 to 0 of"):
        ScanExamples(room_scans[0], [ScanTransform(9, 0, np.eye(4))], CONFIG, augment=False)


def test_small_scans_are_filled_up(room_scans):
    scans = [scan[:150] for scan in room_scans[0]]
    examples = ScanExamples(scans, [], CONFIG, augment=True)
    pair = examples.draw(0, np.random.default_rng(0))
    assert pair.source.shape == (256, 3) and np.isfinite(pair.source).all()
