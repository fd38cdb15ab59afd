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

Gaps between rings. With few rings outdoors, the voxel size that left 5,000 points was a fraction of the gaps between
the rings: the neighbours of a point lay on one ring, so that its normal was arbitrary, and a ring of one scan lay
between two of the other. With 12 rings in parks 19 of 20 transforms were correct and 3 accepted. The voxels of a pair
of scans now grow until at most 15 % of the neighbourhoods are lines (`ring_gaps.py`, 4 to 5 ms a scan, 20 ms with
twelve rings): 16 are accepted by the whole search, each in a third of the time. It changes parks with up to 32 rings;
all other groups had at most 8 %, 16 rings in garages up to 19 %. Maps and odometry are as before: several scans fill
the gaps.

Planes alone. A narrow field of view often shows two walls and the floor. Many corners agree so. *Detail* is the share
of the points that agree beside the three largest planes: above `clear_detail` it shows the place, below `min_detail` it
does not, and between them the share of it that agrees, of what both see, must be above `min_detail_agreement`. Other
rules were no better: two or four planes, wider planes, edges of the planes left out. The rule holds far from a guess
only; a tracked scan's prediction shows the place. It costs 1 to 2 ms, once for a candidate that needs it. Half of the
*depth camera*'s pairs see planes alone.

Moving things. People, cars and leaves violate free space under the correct transform. It is accepted where surfaces
meet (`min_surface_outstanding`) and every other transform agrees less: by `outstanding_agreement`, or by
`violation_per_detail` times the violation per share of detail, whichever is more. So detail that agrees outweighs what
moved, and where there is little, others must agree much less. This one rule took the place of three (crowds, one moving
object, one near object) with 14 thresholds. Of the incorrect candidates whose surfaces meet so well and which agree by
1.1 times more than all others, none but flights of stairs and equal offices reaches 2.4 where 3 are needed. Shares
without the largest cluster of the violation, a least agreement, and planar neighbourhoods alone were tried and added
nothing; violations that the neighbours share were not needed: those of walkers do.

Other transforms. A candidate is compared with rotations of it by 90, 180 and 270 degrees, where planes are most of what
agrees with those about the diagonals of a corner, too, and with moves along the least constrained axis, also without
sensor origins. Before, this page did not do what the library does, and counted halls and corridors rotated by 180
degrees and flights of stairs moved by one step as accepted. It now decides as the library does: corridors whose
rotation fits nearly as well are ambiguous, and no pair that is accepted by chance counts as correct.

Learned verifiers were no better (measured before the last rules): [`verification_learned.py`](
../../benchmarks/verification_learned.py), with the same measures, each group's pairs by a model of the other groups:
the formula accepted 598 correct and no incorrect pair of those with a sensor origin, gradient boosted trees 521 and 2
(threshold 0.99) or 587 and 10 (0.5), a logistic regression 450 and 0 or 578 and 7.

What is left. *12 rings in a park*: curved crowns, whose normals differ. *Livox in a crowd*, *garage*, *depth camera*:
several moving people or cars close to a narrow field of view. *Fragments* have no sensor origin; those that overlap
least are not accepted. *KITTI*: a candidate 1.1 m along the road fits as well; the search does not find it, and accepts
all nine. *Table top*: a noisy stereo camera is used as far as its noise is below 1.2 % of the range, which the scan
itself shows. Views of a single wall are not constrained, and are left out of the percentages. Groups that were held
out before: see `surveys.py`.
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
