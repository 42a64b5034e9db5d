/* SPDX-License-Identifier: BSD-2-Clause */
/* What every fuzz target defines: try one input. Returns 0. */
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);
