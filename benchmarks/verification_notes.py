"""What the pages of the verification benchmark say below their tables."""

NOTES = """
What is held out: in *left out* all thresholds of the table above; the coefficients of the confidence in its
table. The constants of the measures (margins along the rays, distances, cosines) were chosen with these
candidates at hand. Sensors and places that nothing was chosen on: [held
out](registration_verification_held_out.md). A correct transform of a stereo camera may be off by 3 degrees (over
tables by 0.05 m): its noise is about 1 % of the range, and a refinement that begins at the ground truth ends up
to 2.2 degrees away, with as much agreement. With 2 degrees one more candidate would be incorrect and accepted.

Free space. The voxel filter leaves one ray a voxel, so that near surfaces have fewer rays than far ones: a point
counts as seen where four rays lie within three spacings of the rays or 1.5 voxels. Before, only the first held: a
car's LiDAR saw 5 to 10 % of its points, and KITTI and the garage were rejected for what was not seen. Points
beside the field of view, whose nearest rays all lie on one side, are not seen.

Planes alone. A narrow field of view often shows two walls and the floor. Many corners agree so: before, 25
candidates of 18 of the 535 pairs in *narrow places* were accepted. *Detail* is the share of the points that agree
beside the three largest planes: above `clear_detail` it shows the place, below `min_detail` it does not, and
between them the share of it that agrees, of what both see, must be above `min_detail_agreement`. Other rules were
no better: two or four planes, wider planes, edges of the planes left out. The rule holds far from a guess only; a
tracked scan's prediction shows the place. It costs 1 to 2 ms, once for an accepted registration. Half of the
*depth camera*'s pairs see planes alone, 3.5 % of all constrained pairs.

Moving things. The third set of held-out sensors (*time of flight* to *16 rings in buildings*, *third different
places*; for development since 2026-11-29) had 4 incorrect candidates accepted and 5 correct pairs missed. What
they have in common is a violation that moving things explain, and the rules for it were mended:

- a flight of stairs and a hall, rotated by 180 degrees, agreed by 0.50 with a violation of 1.2 and 1.6 %. Above
  `max_violation_certain` more must agree now, up to `min_agreement_violated`, and no other transform more than
  it;
- the same flight was kept though the correct transform, beside a person, agreed by 0.77: a transform that agrees
  so much more than all others now wins against one that is accepted by itself;
- a camera that sees people and the floor was 2.14 degrees off: the people constrained a direction that nothing
  else did. Where free space is violated and a direction is hardly constrained, little detail shows nothing;
- a noisy stereo camera was 2.15 degrees off: see the limit above;
- a near car or person violated 3 to 14 %, in one cluster, three more times. Such a transform is accepted with
  less agreement now, where it agrees by more than twice as much as any other (one of the three is planes alone);
- a room seen twice that fits as well 0.34 m away is not accepted, and should not be.

Learned verifiers are no better: [`verification_learned.py`](../../benchmarks/verification_learned.py), with the
same measures, each group's pairs by a model of the other groups: the formula accepts 598 correct and no incorrect
pair of those with a sensor origin, gradient boosted trees 521 and 2 (threshold 0.99) or 587 and 10 (0.5), a
logistic regression 450 and 0 or 578 and 7. (The formula's thresholds are the shipped ones; *left out* has its
own.)

What is left. *Garage*, *depth camera*: several moving people or cars close to the sensor. One moving object is
one cluster of the free-space violation; the candidate is accepted where all else agrees and the others agree much
less, from an agreement of `min_agreement_moving` on: a stereo camera in another office agreed by 0.62. *Crowd*:
most candidates are not accepted by themselves, the correct one because it agrees much better than all others.
*Corridors*: candidates rotated by 180 degrees are accepted by themselves; the search compares them with the
correct one. *Fragments* have no sensor origin; those that overlap least are not accepted. *Table top*: a noisy
stereo camera is used as far as its noise is below 1.2 % of the range, which the scan itself shows. Views of a
single wall are not constrained, and are left out of the percentages. *Later different places* and the groups of
rings, *Livox on stairs*, *stereo camera* and *near stereo* were held out until 2026-11-28.
""".splitlines()
HELD_OUT_NOTES = """
Eight sensors that no group of the development has: time-of-flight cameras of 75 x 65 degrees in the rooms of
small buildings and of 120 x 120 degrees (to 2.9 m) in crowded rooms, a wide stereo camera on stairs, a close one
over tables, Livox-like LiDARs of 77 degrees in streets and of 38 degrees in garages, 40 rings in halls with a
closet, 16 rings in small buildings; ten recordings each, seed 23. *Held out different places*: 210 pairs of two
recordings of a sensor, except the halls, whose walls and columns are equal. Thresholds were final before this
report, and none was changed after it.

The four incorrect candidates: two are the right place, off by 2.15 and 2.14 degrees where 2 are allowed (noisy
camera; wide camera that sees people and the floor). A flight of stairs rotated by 180 degrees. A hall rotated by
180 degrees: the search compares it with the correct one, which it keeps. Of the five correct pairs that are
missed, four violate free space by 3 to 14 %, as near cars and people make it, and one has an incorrect candidate
in its place. The goals (0.1 % of the incorrect candidates, 97 % of the correct pairs, 85 % in each group) are
missed: 0.22 %, 95.6 %, and 7 of 9 with the wide stereo camera. No candidate of different places is accepted by
itself; the [whole search](registration_whole.md) accepts one of the 210 pairs: the stairs of two buildings, whose
flights are equal in the simulator.

Without the rule for detail the same candidates give 11 incorrect ones alone and 8 pairs, three of them different
places, and 113 correct pairs; five of these are planes alone. The camera of 120 degrees sees the crowd, the floor
and little else: five of its candidates are correct.

The first held-out set (2026-11-28; its groups are development groups since) had 105 of 106 correct pairs and 7 of
733 incorrect candidates accepted.
""".splitlines()
