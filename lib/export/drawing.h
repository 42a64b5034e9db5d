/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fabric as a picture inside a page of HTML: switches in rows by rank (in a ring where
 * there are no ranks), those of a pod or group in one box that a click opens, cables
 * coloured by a load, and numbered marks with a list of their texts.
 */
#pragma once

#include <stdio.h>

#include "fabric/fabric.h"
#include "present/report.h"

struct fab_drawing;

/* The fabric is borrowed. O(cables log cables). */
struct fab_drawing *fab_drawing_new(const struct fab_fabric *f);
void fab_drawing_free(struct fab_drawing *d);
FAB_AUTO_POINTER(fab_drawing)

/*
 * Loads of cables between switches: an array [n_switch_links] for the caller to fill; NaN
 * at first: unknown. `unit` is "trees" or the like, `what` the sentence of the legend
 * ("Trees on each cable, by fulb"), copied. O(cables).
 */
double *fab_drawing_load(struct fab_drawing *d, const char *unit, const char *what);

/* Cables without loads: a sentence that says why, copied. O(len). */
void fab_drawing_without_load(struct fab_drawing *d, const char *why);

/*
 * Begin a mark with a line of text for the list, copied; then the nodes and cables that
 * it is about (a node that is no switch is represented by the switch that it is cabled
 * to). The first 100 marks are drawn, the others are counted. O(len).
 */
void fab_drawing_mark(struct fab_drawing *d, enum fab_tone tone, const char *text);
void fab_drawing_mark_node(struct fab_drawing *d, fab_node_id node);
void fab_drawing_mark_cable(struct fab_drawing *d, fab_cable_id cable);

/* Settle what can be opened: behind all marks, before the two below. O(cables log
 * cables). */
void fab_drawing_settle(struct fab_drawing *d);
/* The id of the switch that has this name, or of its box; false: no or several switches
 * have it. O(len). */
bool fab_drawing_find(const struct fab_drawing *d, const char *name,
		      char id[FAB_ANCHOR_BYTES]);
/*
 * Write the section: picture, legend, list of marks. Its size is bounded: boxes whose
 * switches and cables exceed the budget cannot be opened. Errors are left to ferror(out).
 * O(cables).
 */
void fab_drawing_write(const struct fab_drawing *d, FILE *out);
