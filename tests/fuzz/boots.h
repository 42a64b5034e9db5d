/* SPDX-License-Identifier: BSD-2-Clause */
/* For all targets about booting: a small machine with odd names. */
#pragma once

#include "boot/machine.h"
#include "fuzz.h"

/* Two racks in a pod, one outside; nodes named as patterns, orders, addresses. */
static inline struct fab_machine *fuzz_small_machine(void)
{
	static const char text[] =
		"pod - 40G\n"
		"rack1 pod 10G\nrack2 pod 10G\nrack3 - 10G\n"
		"n1 rack1 1G node\nn2 rack1 1G node\nn10 rack2 1G node\n"
		"ignore rack2 1G node\n10.0.0.1 rack2 1G node\n"
		"n* rack3 1G node\nall rack3 1G node\na,b rack3 1G node\n"
		"s1 pod 1G server\ns2 rack3 1G server\nn1 - 1G\n";
	static const char last[] = "n1 - 1G\n";
	static struct fab_machine *m;

	/* the last line contradicts the first of its name: left out */
	NEVER(!m &&
	      (!fab_machine_read("test", text, sizeof(text) - 1, &m, NULL) ||
	       fab_machine_read("test", text, sizeof(text) - sizeof(last), &m, NULL)));
	return m;
}
