/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/fence_lists.h"

#include <stdlib.h>

void fence_lists_init(struct fence_lists *l, const struct fab_fence_plan *plan)
{
	const struct fab_fence_message *m = plan->messages.v;
	size_t n = plan->messages.n, n_nodes = plan->n_nodes, first = 0;
	uint32_t *received = FAB_NEW0(n_nodes + 1, uint32_t);
	uint32_t *out, *in;

	l->sends_first = FAB_NEW0(n_nodes + 2, uint32_t);
	l->receives_first = FAB_NEW0(n_nodes + 2, uint32_t);
	l->sends = FAB_NEW(n + 1, uint32_t);
	l->receives = FAB_NEW(n + 1, uint32_t);
	l->needs = FAB_NEW(n + 1, uint32_t);
	out = l->sends_first + 1; /* where the next one goes; in the end, the next node */
	in = l->receives_first + 1;
	for (size_t i = 0; i < n; i++) {
		out[m[i].from + 1]++;
		in[m[i].to + 1]++;
	}
	for (size_t i = 1; i <= n_nodes; i++) {
		out[i] += out[i - 1];
		in[i] += in[i - 1];
	}
	for (size_t i = 0; i < n; i++) {
		l->sends[out[m[i].from]++] = (uint32_t)i;
		l->receives[in[m[i].to]++] = (uint32_t)i;
	}
	for (size_t i = 0; i < n; i++) {
		if (i && m[i].step != m[i - 1].step)
			for (; first < i; first++)
				received[m[first].to]++;
		l->needs[i] = received[m[i].from];
	}
	free(received);
}

void fence_lists_fini(struct fence_lists *l)
{
	free(l->sends_first);
	free(l->sends);
	free(l->receives_first);
	free(l->receives);
	free(l->needs);
}
