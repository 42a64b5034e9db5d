/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that runs out: allocations of this program fail when a test says so. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Of the allocations of this thread from now on, the one after `n` fails; < 0: none. */
void scarce_after(int64_t n);
/* What this thread allocates from now on may be lost: sanitizers do not ask for it. */
void scarce_may_lose(void);
/* Has it failed since? */
bool scarce_failed(void);
