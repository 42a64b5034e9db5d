/* SPDX-License-Identifier: BSD-2-Clause */
/* A tree as those who grow trees hand it over. */
#pragma once

#include <stdint.h>

/* Edge i hangs sw[i] on its parent by cable[i]. Borrowed from who grew it, until the next
 * one. */
struct fab_grown {
	uint32_t n;
	const uint32_t *sw, *cable; /* [n] */
	double price;		    /* of its cables together */
	uint64_t steps;		    /* cables that were looked at for it */
};
