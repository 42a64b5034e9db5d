/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t was_interrupted;
static struct sigaction before;

static void remember(int number)
{
	(void)number;
	was_interrupted = 1;
	sigaction(SIGINT, &before, NULL);
}

void fab_cli_catch_interrupt(void)
{
	struct sigaction action = {.sa_handler = remember, .sa_flags = SA_RESTART};

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, NULL, &before);
	if (before.sa_handler != SIG_IGN)
		sigaction(SIGINT, &action, NULL);
}

bool fab_cli_was_interrupted(void)
{
	return was_interrupted;
}
