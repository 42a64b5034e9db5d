/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables by destination switch (unicast/routes.h) as tables by LID: what exports share.
 */
#pragma once

#include "unicast/routes.h"

enum { FAB_LID_LAST_UNICAST = 0xbfff, FAB_OUT_NONE = 255 };

/*
 * The LIDs of what is alive: switches, and ports of adapters whose cable is. Rows are the
 * columns of `routes`, tables by leaf switch being completed (unicast/complete.h): a LID
 * uses its own, or that of the switch at which it leaves the fabric.
 */
struct fab_lid_rows {
	const struct fab_routes *routes; /* completed */
	struct fab_routes *whole;	 /* owns it, or NULL */
	uint32_t n;
	uint16_t *lid;	/* [n] ascending */
	uint32_t *port; /* [n] end port: port 0 of a switch */
	uint32_t *sw;	/* [n] switch at which it leaves */
	uint32_t *row;	/* [n] FAB_NONE: no table leads there */
	uint32_t n_rows;
};

/* EINVAL: a port that has no LID or one beyond 0xbfff or that of another, more ports than
 * a subnet has LIDs, or two switches of one GUID. O(ports + columns of root switches *
 * (switches + cables)). */
int fab_lid_rows_new(const struct fab_routes *routes, struct fab_lid_rows **out,
		     struct fab_err *err) FAB_MUST_CHECK;
void fab_lid_rows_free(struct fab_lid_rows *t);

/* Arcs towards a row's switch, one a switch (struct fab_routes.next). Borrowed. */
const uint16_t *fab_lid_row(const struct fab_lid_rows *t, uint32_t row);
/* Port by which switch sw sends on the i-th LID, FAB_OUT_NONE: nowhere. O(1). */
unsigned fab_lid_out(const struct fab_lid_rows *t, uint32_t sw, uint32_t i);

/* Is it alive, with a live cable? One without cables is in no list of links, and tables
 * name the switches of the fabric that goes with them. O(ports that lost their cable). */
bool fab_live_switch(const struct fab_routes *r, uint32_t sw);
bool fab_live_cable(const struct fab_routes *r, uint32_t cable);
