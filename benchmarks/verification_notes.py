"""What the pages of the verification benchmark say below their tables."""

NOTES = """
Without *different twins*: 17 of 27,797 incorrect candidates are accepted (0.06 %), 1,500 of 1,540 correct pairs (97.4
%) and nine incorrect of 5,468. With thresholds chosen without the group, where an incorrect pair costs as much as five
correct ones, 1,489 pairs (96.7 %; goal 97) and 26 incorrect candidates (0.094 %; goal 0.1); where it costs four, 1,496
(97.1 %) and 30 (0.108 %). Ten folds of recordings instead of groups: 1,490 and 24. Of every kind of place at least 90 %
are accepted (goal 85 %). Groups below 85 % are *dome in a crowd* (15 of 20), *40 degree Livox in offices* (10 of 13),
*Livox in a crowd* (6 of 8), *Livox on stairs* (11 of 13), *structured light on stairs* (3 of 4), *wide time of flight*
(1 of 2) and *60 degree Livox in a crowd* (0 of 1).

Objects and fused scans: [without a sensor origin](registration_verification_without_origin.md).

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
all other groups had at most 8 %, 16 rings in garages up to 19 %. The odometry does the same; maps do not: several
scans fill the gaps.

Sparse scans. With 8 to 16 rings fewer surfaces meet under a correct transform: of leaves, of edges between rings.
Such a transform violates little for the detail that it shows (`max_violation_rough`), and all others agree much less
(`outstanding_agreement_rough`). Before this rule the whole search accepted 15 of 20 of *12 rings in a park* and 14 of
20 of *13 rings in a garage*; it accepts 19 and 20. Of 149 pairs of like kinds with another seed 130 were accepted
before, and 143 with the rule.

Planes alone. A narrow field of view often shows two walls and the floor. Many corners agree so. *Detail* is the share
of the points that agree beside the three largest planes: above `clear_detail` it shows the place, below `min_detail`
it does not, and between them the share of it that agrees, of what both see, must be above `min_detail_agreement`.
Much of it must agree, too (`clear_detail_agreement`): a dome above the furniture accepted rooms of other buildings that
are equally deep, where 57 % of it agreed.
Other rules were no better: two or four planes, wider planes, edges of the planes left out. The rule holds far from a
guess only; a tracked scan's prediction shows the place. It costs 1 to 2 ms, once for a candidate that needs it. Half
of the *depth camera*'s pairs see planes alone.

Moving things. People, cars and leaves violate free space under the correct transform. It is accepted where surfaces
meet (`min_surface_outstanding`) and every other transform agrees less: by `outstanding_agreement`, or by
`violation_per_detail` times the violation per share of detail, whichever is more. So detail that agrees outweighs
what moved, and where there is little, others must agree much less. This one rule took the place of three (crowds, one
moving object, one near object) with 14 thresholds. Of the incorrect candidates here whose surfaces meet so well, the
largest product of detail per violation and agreement per best other one is 2.4 (two flights of stairs); 3 is needed.
A least agreement was tried and added nothing. The violation without its largest cluster, as a mean with all of it,
accepts five or six correct pairs more and two to four incorrect ones; clusters that stand apart from what agrees, as a
walker does, separate no better (area under the curve 0.88, 0.87 without). Planar neighbourhoods alone accepted four
correct pairs more in two groups and two fewer in the garage; violations that the neighbours share were not needed:
those of walkers do.

Tracked scans. The odometry registers a scan from its prediction alone, and does not compare it with other transforms.
There moving things may violate 15 % where 90 % of the surfaces meet and half of all agrees: with people near a LiDAR
of few rings the correct pose violates 4 to 6 %. Of the candidates here, which are not near a prediction, 1.0 % of the
incorrect ones would pass near one without this rule and 1.6 % with it; 83 and 90 % of the correct ones.

Other transforms. A candidate is compared with rotations of it by 90, 180 and 270 degrees, where planes are most of
what agrees with those about the diagonals of a corner, too, and with moves along the least constrained axis, also
without sensor origins. Before, this page did not do what the library does, and counted halls and corridors rotated by
180 degrees and flights of stairs moved by one step as accepted. It now decides as the library does; two corridors
whose rotation fits nearly as well are ambiguous.

Of a transform that violates free space, no other one may agree more. That holds for others that the scene constrains:
one that slides agrees along a wall with whatever stands there (one more pair of *Livox in a crowd*). It holds for
others that violate less than `rival_violation_factor` times as much: where a candidate is incorrect and another
agrees more, that one violates at most 4.8 times as much; where it is correct, also with a handheld LiDAR at an
overlap of 0.2 to 0.4, at least 8.5 times. Without these rules five more incorrect candidates and one more correct
pair are accepted.

Where a transform violates free space, another one that is verified too makes it ambiguous unless it fits better by
`rival_margin_violated`: people may decide between a room and the room turned round. A dome that looks above the
furniture accepted one of 20 *dome in a crowd* so; values from 0.4 to 1 cost one correct pair of all groups.

Learned verifiers were no better (measured before the last rules): [`verification_learned.py`](
../../benchmarks/verification_learned.py), with the same measures, each group's pairs by a model of the other groups:
the formula accepted 598 correct and no incorrect pair of those with a sensor origin, gradient boosted trees 521 and 2
(threshold 0.99) or 587 and 10 (0.5), a logistic regression 450 and 0 or 578 and 7.

The 17 incorrect ones have no common cause: two buildings with equal stairwells; two pairs of flights of stairs; a
corner of a room rotated about its diagonal and a stair landing rotated by half a turn, both seen by stereo cameras;
two transforms 0.32 and 0.64 m off on stairs and two 0.35 m along a corridor, where 0.3 m is correct; a garage and two
crowded rooms seen by narrow sensors that hide most of the place; two offices whose corridors agree; a dome in two
offices, in an office rotated by half a turn, and, three times, in rooms of different buildings that are nearly equal
above the furniture.

What is left. *Dome in a crowd*: people alone distinguish the room from the room turned round. *Livox in a crowd*,
*garage*, *depth camera*: several moving people or cars close to a narrow field of view. *Table top*: a noisy stereo
camera is used as far as its noise is below 1.2 % of the range, which the scan itself shows. Views of a single wall
are not constrained, and are left out of the percentages. Groups that were held out before: see `surveys.py` and
`later_surveys.py`.
""".splitlines()
WITHOUT_ORIGIN_NOTES = """
Objects and fused scans have no single sensor position, so that free space shows nothing. A transform is accepted
where the clouds agree (`min_agreement_accepted`), where the surfaces of their overlap meet (`min_surface_agreement`:
the agreement divided by the overlap) and, far from a guess, where more than planes agrees (`min_detail`; less is
enough where hardly any of it differs, `clear_agreement_object`: 6 of 62 *fused rooms* and 3 of 76 held-out ones more,
no incorrect one; the edges of a bare corner are 0.025 to 0.031 of the points). The first three thresholds are those
of the scans, chosen on scans. The form of the rule was chosen on the groups here that are not held out. Before it,
the agreement alone decided: 0.52, or 0.3 where all others agreed 1.2 times less. Clouds with little overlap were
rejected, a large overlap that does not meet was accepted, and candidates were ranked by agreement alone.

*Fused rooms*: 6 to 10 depth images of a short path, fused on a grid of 2.5 cm, of 12 simulated rooms, overlap 0.1 to
0.7; *held out*: 12 other rooms, on which nothing was chosen; both measured twice, with this rule and with one more
condition to end the search (`min_surface_certain_object`), with the same pairs accepted. *Different fused rooms*: of
two rooms. *Object views*: two partial views of a ModelNet40 shape, sampled twice, with noise; many are symmetric.
*Different objects*: of two shapes. *Fragments*: a public RGB-D sequence.

The whole search without a network (`registration_whole.py`), before this rule and now; correct, incorrect:

| pairs | number | accepted before | accepted now | ambiguous | weak | rejected | CPU s |
|---|---|---|---|---|---|---|---|
| held out fused rooms | 119 | 53, 5 | 44, 0 | 0, 2 | 30, 34 | 0, 9 | 0.52 |
| held out different fused rooms | 72 | 0, 3 | 0, 0 | 0, 2 | 0, 33 | 0, 37 | 0.32 |
| fused rooms | 100 | 34, 3 | 32, 1 | 1, 0 | 21, 38 | 0, 7 | 0.54 |
| different fused rooms | 72 | 0, 5 | 0, 1 | 0, 2 | 0, 39 | 0, 30 | 0.35 |
| fragments | 33 | 29, 0 | 33, 0 | 0, 0 | 0, 0 | 0, 0 | 0.47 |
| bunny | 8 | 8, 0 | 8, 0 | 0, 0 | 0, 0 | 0, 0 | 0.39 |
| object views | 100 | 91, 2 | 92, 2 | 0, 2 | 1, 3 | 0, 0 | 0.12 |
| different objects | 60 | 0, 1 | 0, 0 | 0, 0 | 0, 12 | 0, 48 | 0.07 |
| cube | 20 | 0, 0 | 0, 0 | 0, 20 | 0, 0 | 0, 0 | 0.24 |
| open box | 20 | 0, 0 | 0, 0 | 14, 6 | 0, 0 | 0, 0 | 0.35 |
| cube with a knob | 20 | 20, 0 | 20, 0 | 0, 0 | 0, 0 | 0, 0 | 0.24 |

Fewer fused rooms are accepted: corners of walls, which fit many rooms, are weak. The incorrect ones: two bathtubs
rotated by half a turn, a room rotated by a quarter, and two rooms that overlap by 0.7 and agree beside their planes on
11 % of the points.

A point that lies in front of the other cloud's surfaces, where its sensor must have looked through, shows an incorrect
transform too (the normals give the side): 60 instead of 58 of 71 simulated pairs were ranked correctly with it. It is
left out: the share of the overlap that meets shows nearly as much, and costs nothing.
""".splitlines()
HELD_OUT_NOTES = """
Ten sensors that no group of the development has, ten recordings each, in places with dimensions of their own (seed
1613): 16 rings in buildings, 19 in parks, 27 and a Livox-like LiDAR of 72 degrees in streets, 44 on stairs, 96 in
crowded rooms, a dome in halls with a closet, a Livox-like LiDAR of 95 degrees and a stereo camera in garages, a
time-of-flight camera in offices. *Different places*: 600 pairs of two recordings of a sensor. They were collected and
measured once, after all rules were chosen (commit f1848c1).

**156 of 159 correct pairs are accepted (98.1 %; goal 97 %) and 1 of 4,339 incorrect candidates (0.023 %; goal 0.1 %).**
At least 85 % are accepted of each sensor (goal 85 %; *96 rings in a crowd* 17 of 20, where people violate free space
and the room turned round agrees nearly as much).

The whole search (`registration_whole.py`, the same pairs and every 15th of the different places):

| pairs | number | accepted: correct, incorrect | ambiguous | weak | rejected | CPU s |
|---|---|---|---|---|---|---|
| 16 rings in buildings | 20 | 18, 0 | 0, 0 | 2, 0 | 0, 0 | 0.34 |
| 19 rings in a park | 20 | 20, 0 | 0, 0 | 0, 0 | 0, 0 | 0.25 |
| 27 rings in a street | 20 | 20, 0 | 0, 0 | 0, 0 | 0, 0 | 0.20 |
| 44 rings on stairs | 20 | 19, 0 | 0, 0 | 0, 1 | 0, 0 | 0.21 |
| 96 rings in a crowd | 20 | 17, 0 | 0, 0 | 1, 0 | 2, 0 | 0.29 |
| dome in a hall with a closet | 20 | 12, 0 | 0, 0 | 7, 0 | 0, 1 | 0.27 |
| 72 degree Livox in a street | 20 | 16, 0 | 0, 0 | 4, 0 | 0, 0 | 0.27 |
| 95 degree Livox in a garage | 20 | 16, 0 | 0, 0 | 3, 1 | 0, 0 | 0.26 |
| time of flight in offices | 20 | 14, 0 | 1, 0 | 2, 2 | 0, 1 | 0.35 |
| stereo in a garage | 20 | 4, 0 | 0, 0 | 4, 11 | 1, 0 | 0.50 |
| different places | 40 | 0, 0 | 0, 0 | 0, 7 | 0, 33 | 0.67 |
| **all** | 240 | 156, 0 | 1, 0 | 23, 22 | 3, 35 |  |

Earlier held-out sets, whose groups are for development since: the first (2026-11-28) had 105 of 106 correct pairs and
7 of 733 incorrect candidates accepted; on 2026-11-29 the second 108 of 113 and 4 of 1,805, the third 122 of 133 and 8
of 2,415, the fourth 140 of 141 and 2 of 1,888, the fifth 142 of 144 and 5 of 4,226, the sixth 135 of 139 and 5 of
4,318. The first three counted a candidate as accepted that is accepted by itself, without the comparison with other
transforms that the library makes.
""".splitlines()
