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
Eight sensors that no group of the development has: 48 rings in crowded rooms, 20 rings in parks, 24 rings in halls
with a closet, 16 rings in garages, Livox-like LiDARs of 50 degrees in streets and of 110 degrees in offices, a
structured-light camera (noise grows with the square of the range) in offices, a stereo camera on stairs; ten
recordings each, seed 31. No two places of a sensor have equal dimensions, except the lanes of the streets and the
corridors and depths of the rooms of the offices. *Held out different places* and *further places*: 320 pairs of two
recordings of a sensor. The thresholds were final before the candidates were collected, and none was changed after it.

The goals (0.1 % of the incorrect candidates, 97 % of the correct pairs, 85 % in each group) are missed: 8 of 2,415
(0.33 %), 119 of 133 (89.5 %), and 10 of 19 in the park; without the park 109 of 114 (95.6 %).

The eight incorrect candidates: four halls rotated by 180 degrees; a corner of a room, twice, rotated by 120 degrees
about its diagonal (walls and floor change places); a flight of stairs moved by one step (0.31 and 0.33 m), twice.
Of the six halls and corners, the pair keeps the correct transform. The two flights are accepted in their pairs: the
refinement moves the ground truth itself by one step, and nothing in the search is compared with a step more or less.
No candidate of the 320 pairs of different places is accepted by itself. One pair is, because it agrees much more
than all others: two flights of different width, of which the camera sees steps alone. The
whole search, on samples: 21 of 27 pairs correct and none incorrect accepted, none of 30 different places.

The park: the nine missed pairs violate free space by 1.5 to 5 % (walkers, and 20 rings between leaves), agree by 0.45
to 0.64, and by 1.3 to 1.8 times more than any other transform. The growth of the agreement that is needed with the
violation was 20 per unit before (and up to 0.55 after 0.2 at 200 now): with 20, three of the nine are accepted, with
the same incorrect ones here and three more in the development. A LiDAR with few rings outdoors was not in the
development, and should be. The other five: two crowds whose rotation by 180 degrees agrees by 0.90 of the correct
transform, a car, an overlap of 12 %, and surfaces that meet by 0.85 where 0.86 are needed.

Earlier held-out sets, whose groups are for development since: the first (2026-11-28) had 105 of 106 correct pairs and
7 of 733 incorrect candidates accepted, the second (2026-11-29) 108 of 113 and 4 of 1,805.
""".splitlines()
