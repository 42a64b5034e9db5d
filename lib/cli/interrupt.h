/* SPDX-License-Identifier: BSD-2-Clause */
/* Ctrl-C as a wish to see what is there, for commands that work for long. */
#pragma once

#include <stdbool.h>

/*
 * From now on the first SIGINT is remembered only; the second one ends the command as any
 * signal does. Not where SIGINT is ignored.
 */
void fab_cli_catch_interrupt(void);
/* Has one come? O(1), from any thread. */
bool fab_cli_was_interrupted(void);
