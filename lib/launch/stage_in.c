/* SPDX-License-Identifier: BSD-2-Clause */
/* Program and libraries on their way to the nodes, as images to nodes that boot. */
#include <math.h>
#include <stdlib.h>

#include "boot/transfer.h"
#include "launch/stages.h"

enum { MBPS_A_MB = 8 };
static const double MAX_MBPS = 1e9; /* what fab_machine_parse() takes */

uint32_t fab_launch_depth(uint32_t i, uint32_t width)
{
	uint32_t depth = 0;

	for (; i; depth++)
		i = (i - 1) / width;
	return depth;
}

/* `n` clients that read at once what lies on all servers; seconds of each into out. */
static int read_all(uint32_t n, double client_MBps, double all_MBps, double request_s,
		    uint64_t bytes, double *out, struct fab_err *err)
{
	char *spec = fab_format("node=%u@%.9gMbps/server=1@%.9gMbps", n,
				fmin(client_MBps * MBPS_A_MB, MAX_MBPS),
				fmin(all_MBps * MBPS_A_MB, MAX_MBPS));
	struct fab_transfer_options options = {
		.image_bytes = bytes, .n_files = 1, .request_seconds = request_s};
	struct fab_machine *m = NULL;
	struct fab_transfer t;
	struct fab_batch batch;
	uint32_t *interface_of;
	int rc = fab_machine_parse(spec, &m, err);

	free(spec);
	if (rc)
		return rc;
	interface_of = FAB_NEW(n, uint32_t);
	for (uint32_t i = 0; i < n; i++)
		interface_of[i] = 0;
	batch = fab_batch_all(m);
	rc = fab_transfer_run(m, &batch, interface_of, &options, &t, err);
	for (uint32_t i = 0; i < n && !rc; i++)
		out[i] = t.finish_s[i];
	if (!rc)
		fab_transfer_fini(&t);
	fab_batch_fini(&batch);
	free(interface_of);
	fab_machine_free(m);
	return rc;
}

/* One node reads, then each hands on to `fanout` others, level by level. */
static int spread(const struct fab_launch_start *s, uint64_t bytes, double open_s,
		  double *out, struct fab_err *err)
{
	const struct fab_launch_params *p = s->params;
	uint32_t width = (uint32_t)FAB_PARAM(p, fanout);
	uint32_t n_first = s->n_nodes - 1 < width ? s->n_nodes - 1 : width;
	double *level = FAB_NEW0((size_t)n_first + 1, double), read_s;
	int rc = read_all(1, FAB_PARAM(p, node_MBps), FAB_PARAM(p, fs_MBps), open_s,
			  bytes, &read_s, err);

	if (!rc && n_first)
		rc = read_all(n_first, FAB_PARAM(p, node_MBps), FAB_PARAM(p, node_MBps),
			      0, bytes, level, err);
	for (uint32_t i = 0; i < s->n_nodes && !rc; i++)
		out[i] = read_s + level[0] * fab_launch_depth(i, width);
	free(level);
	return rc;
}

int fab_stage_in_times(const struct fab_launch_start *s, double **out,
		       struct fab_err *err)
{
	const struct fab_launch_params *p = s->params;
	double *finish = FAB_NEW0(s->n_nodes, double);
	uint64_t bytes = (uint64_t)(FAB_PARAM(p, image_MB) * 1e6);
	double readers = s->stage_in == FAB_STAGE_STORM	  ? (double)s->n_nodes * s->ppn
			 : s->stage_in == FAB_STAGE_CACHE ? s->n_nodes
							  : 1;
	double open_s = readers * FAB_PARAM(p, files) / FAB_PARAM(p, fs_ops);
	int rc = 0;

	if (s->stage_in == FAB_STAGE_NONE)
		;
	else if (!bytes)
		for (uint32_t i = 0; i < s->n_nodes; i++)
			finish[i] = open_s;
	else if (s->stage_in == FAB_STAGE_TREE)
		rc = spread(s, bytes, open_s, finish, err);
	else
		rc = read_all(s->n_nodes, FAB_PARAM(p, node_MBps), FAB_PARAM(p, fs_MBps),
			      open_s, bytes, finish, err);
	if (rc)
		free(finish);
	else
		*out = finish;
	return rc;
}
