/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/hang.h"

#include <math.h>
#include <string.h>

enum { TRIED_MAX = 64 };

/* Effects of one lost node. */
struct loss {
	uint32_t waiting, direct;
	double sent;
};

/* A node with a message that does not come is stuck from that step on. */
static void follow(const struct fab_fence_plan *plan, uint32_t lost, uint32_t *stuck_at,
		   struct loss *out)
{
	size_t n = plan->messages.n;
	uint32_t n_sent = 0;

	*out = (struct loss){0};
	for (uint32_t i = 0; i < plan->n_nodes; i++)
		stuck_at[i] = UINT32_MAX; /* the first step that it cannot end */
	stuck_at[lost] = 0;
	for (size_t i = 0; i < n; i++) {
		const struct fab_fence_message *m = &plan->messages.v[i];

		/* messages of a step go out before its own ones must be there */
		if (m->from != lost && stuck_at[m->from] >= m->step)
			n_sent++;
		else if (stuck_at[m->to] > m->step)
			stuck_at[m->to] = m->step;
		out->direct += m->from == lost;
	}
	for (uint32_t i = 0; i < plan->n_nodes; i++)
		out->waiting += i != lost && stuck_at[i] != UINT32_MAX;
	out->sent = n ? (double)n_sent / (double)n : 0;
}

/* Of a ring: the steps are the same, each node passes on what the one before it sends:
 * the k-th behind the lost one receives k - 1 messages of n - 1. */
static struct loss of_ring(uint32_t n)
{
	return (struct loss){.waiting = n - 1, .direct = 1, .sent = n > 1 ? 0.5 : 0};
}

int fab_hang_find(struct fab_arena *memory, struct fab_fence_chosen fence,
		  const struct fab_fence_job *job, struct fab_hang *out,
		  struct fab_err *err)
{
	FAB_AUTO(fab_arena_free) struct fab_arena scratch = FAB_ARENA_INIT;
	struct fab_fence_plan plan;
	int rc = fab_fence_plan_make(&scratch, fence, job, &plan, err);
	uint32_t *stuck_at, n = job->n_nodes, n_tried = n < TRIED_MAX ? n : TRIED_MAX;

	*out = (struct fab_hang){.fence = fab_fence_text(memory, fence),
				 .waiting_least = UINT32_MAX,
				 .direct_least = UINT32_MAX,
				 .sent_least = 1};
	if (rc)
		return rc;
	stuck_at = FAB_ARENA_NEW(&scratch, n, uint32_t);
	for (uint32_t i = 0; i < n_tried; i++) {
		struct loss x;

		if (plan.n_repeats > 1)
			x = of_ring(n);
		else
			follow(&plan, (uint32_t)((uint64_t)i * n / n_tried), stuck_at,
			       &x);
		out->waiting_least =
			x.waiting < out->waiting_least ? x.waiting : out->waiting_least;
		out->waiting_most =
			x.waiting > out->waiting_most ? x.waiting : out->waiting_most;
		out->direct_least =
			x.direct < out->direct_least ? x.direct : out->direct_least;
		out->direct_most =
			x.direct > out->direct_most ? x.direct : out->direct_most;
		out->sent_least = fmin(out->sent_least, x.sent);
		out->sent_most = fmax(out->sent_most, x.sent);
	}
	return 0;
}

void fab_hang_settings(const struct fab_launch_params *p,
		       struct fab_hang_setting out[FAB_N_HANG_SETTINGS], double *least_s,
		       double *most_s)
{
	double slurmd_s = FAB_PARAM(p, slurmd_timeout_s);
	double pmix_s = FAB_PARAM(p, pmix_timeout_s);
	const struct fab_hang_setting all[FAB_N_HANG_SETTINGS] = {
		{"PMIxTimeout", "mpi.conf", pmix_s,
		 "a fence that takes longer fails, and MPI_Init; of a job SLURM_PMIX_TIMEOUT",
		 true},
		{"SlurmdTimeout", "slurm.conf", slurmd_s,
		 "a node that does not answer is set DOWN and its jobs end; 0: never",
		 true},
		{"MessageTimeout", "slurm.conf", FAB_PARAM(p, message_timeout_s),
		 "a message through the lost daemon fails, once for each level of the tree",
		 false},
		{"TCPTimeout", "slurm.conf", 2, "a connection to the node fails", false},
		{"TreeWidth", "slurm.conf", (double)NAN,
		 "wide trees have fewer daemons behind a lost one", false},
		{"KillOnBadExit", "slurm.conf", (double)NAN,
		 "a process that fails ends the step; a lost node does not", false},
		{"WaitTime", "slurm.conf", (double)NAN,
		 "counts from the end of the first process: none ends in a fence", false},
		{"KillWait", "slurm.conf", 30,
		 "between SIGTERM and SIGKILL at the time limit of the job", false},
		{"UnkillableStepTimeout", "slurm.conf", FAB_PARAM(p, unkillable_s),
		 "a process that SIGKILL does not end drains its node", false}};

	memcpy(out, all, sizeof(all));
	*least_s =
		fmin(pmix_s > 0 ? pmix_s : INFINITY, slurmd_s > 0 ? slurmd_s : INFINITY);
	*most_s = fmin(pmix_s > 0 ? pmix_s : INFINITY,
		       slurmd_s > 0 ? slurmd_s * 4 / 3 : INFINITY);
}
