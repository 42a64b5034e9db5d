/* SPDX-License-Identifier: BSD-2-Clause */
/* Transfers in the simplest form: every node by itself, all rates anew at every event. */
#pragma once

#include "boot/transfer.h"

/*
 * As fab_transfer_run() for at most 256 nodes: finish_s [batch->n], n_retries, n_failed
 * and first_rate_mbps are filled in. fab_transfer_fini().
 */
struct fab_transfer refill_run(const struct fab_machine *m, const struct fab_batch *batch,
			       const uint32_t *interface_of,
			       const struct fab_transfer_options *options);
