/* SPDX-License-Identifier: BSD-2-Clause */
/* Sizes and rates as people write them. */
#pragma once

#include "base/err.h"

/*
 * A size: a decimal number and a unit, `B` `kB` `MB` `GB` `TB` (powers of 1000), `KiB`
 * `MiB` `GiB` `TiB` (powers of 1024); one blank may stand between, and without a unit it
 * is bytes. `1e3` and `1.5MiB` are taken when they come out as whole bytes. Letter case
 * of the unit counts only in telling B from b (`50Mb` is refused: bits or bytes?). EINVAL
 * with a sentence for anything else, for 0 and for more than 2^50 bytes. O(len).
 */
int fab_parse_size_bytes(const char *text, size_t len, uint64_t *bytes,
			 struct fab_err *err) FAB_MUST_CHECK;

/*
 * A rate: `20G` `20Gbps` `20Gb/s` `1000` (Mb/s) `100Mbps` `125MB/s`, in Mb/s (10^6
 * bits/s). EINVAL with a sentence for anything else, for 0 and less, and for more than
 * 10^9 Mb/s. O(len).
 */
int fab_parse_rate_mbps(const char *text, size_t len, double *mbps,
			struct fab_err *err) FAB_MUST_CHECK;
