/* SPDX-License-Identifier: BSD-2-Clause */
/* Seconds on the monotonic clock. */
#pragma once

double fab_now(void);
