/* SPDX-License-Identifier: BSD-2-Clause */
/* --pair: one packet in an idle network. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "fabric/resolver.h"
#include "fabric_sim.h"
#include "unicast/path.h"

/* The number of the end at a port. */
static int find_end(const struct sim_outcome *o, uint32_t port, uint32_t *end,
		    struct fab_err *err)
{
	for (*end = 0; *end < o->ends.n; ++*end)
		if (o->ends.port[*end] == port)
			return 0;
	return fab_fail(err, EINVAL,
			"--pair: '%.100s' is no live host adapter: it, its switch or its "
			"cable is dead, or it is no host's",
			fab_node_name(o->f, o->f->port_node[port]));
}

int sim_try_pair(const struct sim_params *p, struct sim_outcome *o, struct fab_err *err)
{
	struct fab_lookup lookup =
		fab_resolver_lookup(fab_faults_resolver(o->faults), FAB_WANT_ADAPTER);
	struct fab_endpoint ends[2];
	uint32_t from, to;
	int rc = fab_trace_pair(o->f, &lookup, p->pair, ends, err);

	if (rc) {
		fab_err_prefix(err, "--pair");
		return rc;
	}
	o->from = ends[0];
	o->to = ends[1];
	if (find_end(o, ends[0].port, &from, err) || find_end(o, ends[1].port, &to, err))
		return -EINVAL;
	if (from == to)
		return fab_fail(err, EINVAL, "--pair: expected two different hosts");
	for (size_t i = 0; i < o->n_nets; i++) {
		struct sim_pair pair = {.algorithm = o->nets[i].algorithm};
		uint64_t latency;
		struct fab_err why;

		if (fab_sim_pair(&o->nets[i].problem, &p->sim, from, to, p->size[0],
				 &latency, &pair.hops, &why)) {
			pair.latency = NAN;
			pair.why = fab_strdup(why.text);
		} else {
			pair.latency = (double)latency;
		}
		FAB_PUSH(&o->pairs, pair);
	}
	return 0;
}
