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

- a flight of stairs and a hall, rotated by 180 degrees, agreed by 0.50 with a violation of 1.2 and 1.6 %. They are
  still accepted by themselves, but above `max_violation_certain` no other transform may agree more;
- the same flight was kept though the correct transform, beside a person, agreed by 0.77: a transform that agrees
  so much more than all others now wins against one that is accepted by itself;
- a camera that sees people and the floor was 2.14 degrees off: the people constrained a direction that nothing
  else did. Where free space is violated and a direction is hardly constrained, little detail shows nothing;
- a noisy stereo camera was 2.15 degrees off: see the limit above;
- a near car or person violated 3 to 14 %, in one cluster, three more times. Such a transform is accepted with
  less agreement now, where it agrees by more than twice as much as any other (one of the three is planes alone);
- a room seen twice that fits as well 0.34 m away is not accepted, and should not be.

Each of these rules was then compared with the rules before (a3edba8), on the same candidates and with the whole
search: see [rules compared](registration_verification_held_out.md#rules-compared). One was taken back: the needed
agreement grew by 200 per unit of violation above 1 %, to at most 0.55, and grows by 20 again. With 200, seven
instead of ten of the 10,190 incorrect candidates are accepted here (without *different twins*), but no pair changes:
the comparison with the other transforms rejects the three. Thresholds chosen here without a recording are 20, too.

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
Eight sensors that no group of the development has: 48 rings in crowded rooms, 20 rings in parks, 24 rings in halls
with a closet, 16 rings in garages, Livox-like LiDARs of 50 degrees in streets and of 110 degrees in offices, a
structured-light camera (noise grows with the square of the range) in offices, a stereo camera on stairs; ten
recordings each, seed 31. No two places of a sensor have equal dimensions, except the lanes of the streets and the
corridors and depths of the rooms of the offices. *Held out different places* and *further places*: 320 pairs of two
recordings of a sensor. The thresholds were final before the candidates were collected. One rule was taken back after
it, see [rules compared](#rules-compared): of the two complete rule sets and this one, these pages show this one.

The goals (0.1 % of the incorrect candidates, 97 % of the correct pairs, 85 % in each group) are missed: 8 of 2,415
(0.33 %), 122 of 133 (91.7 %), and 13 of 19 in the park; without the park 109 of 114 (95.6 %).

The eight incorrect candidates: four halls rotated by 180 degrees; a corner of a room, twice, rotated by 120 degrees
about its diagonal (walls and floor change places); a flight of stairs moved by one step (0.31 and 0.33 m), twice. Of
the six halls and corners, the pair keeps the correct transform. The two flights are accepted in their pairs: the
refinement moves the ground truth itself by one step, and nothing in the search is compared with a step more or less.
No candidate of the 320 pairs of different places is accepted by itself. One pair is, because it agrees much more
than all others: two flights of different width, of which the camera sees steps alone.

The park: the six missed pairs violate free space by 2.1 to 5.1 % (walkers, and 20 rings between leaves), agree by
0.50 to 0.64, and by 1.2 to 2.1 times more than any other transform. Of three, surfaces meet by 0.90 to 0.95 where
0.91 to 0.98 are needed at their violation; three violate by more than the 3 % that are accepted at most. A LiDAR
with few rings outdoors was not in the development, and should be. The other five: two crowds whose rotation by 180
degrees agrees by 0.90 of the correct transform, a car, an overlap of 12 %, and surfaces that meet by 0.85 where 0.86
are needed.

## Rules compared

The rules before (commit a3edba8), those first made for moving things, and the shipped ones: the latter with the
growth of the needed agreement of before (`agreement_per_violation`). All on the same candidates of development and
of these held-out sensors, without *different twins*. Left out: thresholds chosen without the recording, by each
set's own rules.

| rules | incorrect of 10,190 | correct pairs of 643 | incorrect pairs of 2,144 | left out: correct, incorrect pairs |
|---|---|---|---|---|
| before | 11 | 630 (98.0 %) | 3 | 621, 9 |
| first for moving things | 7 | 635 (98.8 %) | 0 | 632, 1 |
| shipped | 10 | 635 (98.8 %) | 0 | 632, 1 |

| rules | held out: incorrect of 2,415 | correct pairs of 133 | incorrect pairs of 473 |
|---|---|---|---|
| before | 8 | 122 (91.7 %) | 3 |
| first for moving things | 8 | 119 (89.5 %) | 3 |
| shipped | 8 | 122 (91.7 %) | 3 |

Rule by rule, added alone to the rules before: the growth of 200 loses three correct pairs of the held-out sensors,
all in the park, and rejects none of their incorrect candidates; it was taken back. On the development the growth
changes no pair once the other rules are there, and the thresholds chosen there without a recording are those of
before. The other rules (one object alone violates: four correct pairs more in the development; what agrees much more
wins: one incorrect pair less and one correct more; detail of hardly constrained, violated scenes: one incorrect pair
less; no other may agree more: two incorrect pairs less) change nothing on the held-out sensors, and are kept. So the
held-out set was used once, to choose between rule sets that were complete; no value was fitted to it. The 122 of the
shipped rules are therefore not quite a held-out figure; the 119 are.

The whole search (`registration_whole.py`): all 160 held-out pairs, 60 pairs of different places, 131 pairs of ten
groups of the development (rooms, corridors, stairs, garage, depth camera, KITTI, fragments, handheld and sample
LiDAR, twins) and 100 of the sensors that the rules were made on (*time of flight* to *16 rings in buildings*):
correct and incorrect accepted.

| rules | 160 held-out pairs | 60 different places | 131 pairs of development | 100 that the rules were made on |
|---|---|---|---|---|
| before | 121, 0 | 0, 1 | 111, 0 | 56, 1 |
| first for moving things | 119, 0 | 0, 1 | 111, 0 | 57, 0 |
| shipped | 121, 0 | 0, 1 | 111, 0 | 57, 0 |

Downstream (2026-11-29, one core), with each of the rules: `lost_scan.py` accepts none of 45 scans in the other place
and finds the scan again after 1, 1 and 2 scans; lost scans cost 2.6 to 4.9 times a tracked one. `localization.py`:
34 of 35 scans in the building correct, none incorrect, the five of its equal rooms ambiguous; 39 of 39 of the walk,
as they are, rotated and with the map cropped; five scans of other places, rejected in the map of the walk. Not
measured: scans of other places in the map of the building (stopped after eight minutes).

The confidence was fitted again to all groups of the development. On the held-out sensors its mean log loss is
0.0655, 0.0630 with the coefficients before (95 % of the difference by recordings: 0.0005 to 0.0046); each group
weighed alike, 0.1792 and 0.1786. It is kept, because the coefficients are those that `--fit` writes.

Earlier held-out sets, whose groups are for development since: the first (2026-11-28) had 105 of 106 correct pairs
and 7 of 733 incorrect candidates accepted, the second (2026-11-29) 108 of 113 and 4 of 1,805.
""".splitlines()
