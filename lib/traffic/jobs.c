/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jobs: their texts, and the runs that compare them. The traffic of each is made for its
 * own ends, numbered from 0; messages and notices are translated on their way.
 */
#include "traffic/jobs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"

/* TRAFFIC[,size=SIZE],hosts=LIST; *list is the LIST. */
static int read_job(const char *text, struct fab_arena *arena, struct fab_job *job,
		    const char **list, struct fab_err *err)
{
	const char *hosts = strstr(text, ",hosts="), *size = strstr(text, ",size=");
	uint64_t n = 0;
	int rc = 0;

	if (!hosts || !hosts[7] || (size && size > hosts))
		return fab_fail(
			err, EINVAL,
			"'%.80s': expected TRAFFIC,hosts=LIST or TRAFFIC,size=SIZE,hosts=LIST, such as alltoall,size=1MiB,hosts=n[1-32]",
			text);
	*list = hosts + 7;
	if (size)
		rc = fab_parse_size_bytes(size + 6, (size_t)(hosts - size) - 6, &n, err);
	if (!rc && size && (!n || n > FAB_MESSAGE_BYTES_MAX))
		rc = fab_fail(err, EINVAL, "'%.80s': messages of 1 byte to 1 GiB", text);
	*job = (struct fab_job){
		.size = (uint32_t)n,
		.traffic = fab_arena_format(arena, "%.*s",
					    (int)((size ? size : hosts) - text), text)};
	return rc;
}

int fab_jobs_read(const char *const *text, size_t n, const struct fab_fabric *f,
		  struct fab_flow_ends *ends, bool keeps_rest, struct fab_arena *arena,
		  struct fab_job *job, struct fab_err *err)
{
	FAB_AUTOFREE uint32_t *mark = fab_none_new((size_t)ends->n + 1);
	FAB_AUTO(fab_end_names_fini) struct fab_end_names names = {0};
	int rc = 0;

	if (n > FAB_JOBS_MAX)
		return fab_fail(err, EINVAL, "%zu jobs, at most %d are possible", n,
				FAB_JOBS_MAX);
	fab_end_names_init(&names, f, ends);
	for (size_t i = 0; i < n && !rc; i++) {
		const char *list = NULL;

		rc = read_job(text[i], arena, &job[i], &list, err);
		if (!rc)
			rc = fab_end_names_mark(&names, ends, list, (uint32_t)i, mark,
						err);
	}
	if (rc)
		return rc;
	if (!keeps_rest)
		fab_flow_ends_keep(ends, mark);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t *end = FAB_ARENA_NEW(arena, (size_t)ends->n + 1, uint32_t);

		for (uint32_t e = 0; e < ends->n; e++)
			if (mark[e] == i)
				end[job[i].n++] = e;
		job[i].end = end;
	}
	return 0;
}

/* Run two jobs and note which other job makes each take longest. */
static int run_pair(const struct fab_job_runs *r, uint32_t i, uint32_t k,
		    struct fab_job_times *job, struct fab_err *err)
{
	uint64_t end[FAB_JOBS_MAX];
	int rc = r->run(r->context, 1ull << i | 1ull << k, false, end, job, err);

	for (unsigned turn = 0; turn < 2 && !rc; turn++) {
		struct fab_job_times *x = &job[turn ? k : i];
		uint64_t with = end[turn ? k : i];

		if (x->slowed_by != FAB_NONE && with <= x->with)
			continue;
		x->slowed_by = turn ? i : k;
		x->with = with;
	}
	return rc;
}

int fab_jobs_compare(const struct fab_job_runs *r, struct fab_job_times *job,
		     struct fab_err *err)
{
	uint64_t end[FAB_JOBS_MAX] = {0};
	int rc = 0;

	for (uint32_t i = 0; i < r->n; i++)
		job[i] = (struct fab_job_times){.slowed_by = FAB_NONE};
	for (uint32_t i = 0; i < r->n && !rc; i++) {
		rc = r->run(r->context, 1ull << i, false, end, job, err);
		job[i].alone = end[i];
	}
	for (uint32_t i = 0; i < r->n && r->n > 2; i++)
		for (uint32_t k = i + 1; k < r->n && !rc; k++)
			rc = run_pair(r, i, k, job, err);
	if (!rc)
		rc = r->run(r->context, (1ull << r->n) - 1, true, end, job, err);
	for (uint32_t i = 0; i < r->n && !rc; i++) {
		job[i].together = end[i];
		if (r->n != 2)
			continue;
		job[i].slowed_by = 1 - i;
		job[i].with = end[i];
	}
	return rc;
}

/* The traffic of a job, or the load. */
struct part {
	struct fab_flow_ends ends;
	struct fab_traffic traffic;
	const uint32_t *end; /* [ends.n] numbers among all */
	const struct fab_traffic_problem *all;
	uint64_t until; /* no message is created later; UINT64_MAX: whenever */
	uint32_t size;
};

struct fab_jobs {
	struct fab_arena arena;
	struct fab_messages messages;
	uint32_t n_parts; /* jobs, then the load */
	struct part *part;
	uint32_t n_ends;
	uint32_t *part_of; /* [n_ends] FAB_NONE: sends nothing */
	uint32_t *number;  /* [n_ends] in its part */
	uint64_t *last;	   /* [n_ends] latest arrival of a message that it sent */
};

static bool next(void *context, uint32_t e, uint64_t now, struct fab_message *out)
{
	const struct fab_jobs *j = context;
	const struct part *part;
	const struct fab_messages *m;

	if (j->part_of[e] == FAB_NONE)
		return false;
	part = &j->part[j->part_of[e]];
	m = &part->traffic.messages;
	if (!m->next(m->context, j->number[e], now, out) || out->time >= part->until)
		return false;
	out->target = part->end[out->target];
	return true;
}

/* As the traffic of the part numbers its ends. */
static struct fab_delivery translated(const struct fab_jobs *j,
				      const struct fab_delivery *d)
{
	struct fab_delivery to = *d;

	to.source = j->number[d->source];
	to.target = j->number[d->target];
	return to;
}

static void received(void *context, uint32_t e, const struct fab_delivery *d)
{
	const struct fab_jobs *j = context;
	const struct fab_messages *m = &j->part[j->part_of[e]].traffic.messages;
	const struct fab_delivery own = translated(j, d);

	if (m->received)
		m->received(m->context, j->number[e], &own);
}

static void completed(void *context, uint32_t e, const struct fab_delivery *d)
{
	const struct fab_jobs *j = context;
	const struct fab_messages *m = &j->part[j->part_of[e]].traffic.messages;
	const struct fab_delivery own = translated(j, d);

	if (!d->is_lost && d->time > j->last[e])
		j->last[e] = d->time;
	if (m->completed)
		m->completed(m->context, j->number[e], &own);
}

static uint64_t wire(const void *context, uint32_t end, uint32_t bytes, bool to_group)
{
	const struct part *part = context;

	return part->all->wire(part->all->wire_context, part->end[end], bytes, to_group);
}

/* The traffic of a part on its ends. */
static int make(struct fab_jobs *j, uint32_t number, const char *spec, uint32_t n,
		double rate, struct fab_err *err)
{
	struct part *part = &j->part[number];
	struct fab_traffic_problem problem = *part->all;
	const struct fab_flow_ends *all = problem.ends;

	part->ends = (struct fab_flow_ends){
		.n = n,
		.port = FAB_ARENA_NEW(&j->arena, (size_t)n + 1, uint32_t),
		.sw = FAB_ARENA_NEW(&j->arena, (size_t)n + 1, uint32_t)};
	for (uint32_t i = 0; i < n; i++) {
		uint32_t e = part->end[i];

		part->ends.port[i] = all->port[e];
		part->ends.sw[i] = all->sw[e];
		j->part_of[e] = number;
		j->number[e] = i;
	}
	problem.ends = &part->ends;
	problem.wire = wire;
	problem.wire_context = part;
	if (part->size) {
		problem.how.size = &part->size;
		problem.how.n_sizes = 1;
	}
	if (rate > 0) {
		problem.how.arrivals = FAB_ARRIVALS_POISSON;
		problem.how.rate = rate;
	}
	return fab_traffic_make(spec, &problem, &part->traffic, err);
}

/* Uniform messages among the ends of no job, also of those that do not run now. */
static int add_load(struct fab_jobs *j, const struct fab_jobs_problem *p,
		    struct fab_err *err)
{
	FAB_AUTOFREE bool *is_taken = FAB_NEW0((size_t)j->n_ends + 1, bool);
	uint32_t *end = FAB_ARENA_NEW(&j->arena, (size_t)j->n_ends + 1, uint32_t), n = 0;

	for (uint32_t i = 0; i < p->n_jobs; i++)
		for (uint32_t k = 0; k < p->job[i].n; k++)
			is_taken[p->job[i].end[k]] = true;
	for (uint32_t e = 0; e < j->n_ends; e++)
		if (!is_taken[e])
			end[n++] = e;
	if (n < 2)
		return fab_fail(
			err, EINVAL,
			"a load on the hosts of no job: it needs two, there %s %u",
			n == 1 ? "is" : "are", n);
	j->part[p->n_jobs] =
		(struct part){.end = end, .all = p->traffic, .until = p->load_ends};
	return make(j, p->n_jobs, "uniform", n, p->load, err);
}

int fab_jobs_new(const struct fab_jobs_problem *p, struct fab_jobs **out,
		 struct fab_err *err)
{
	FAB_AUTO(fab_jobs_free_at) struct fab_jobs *j = FAB_NEW0(1, struct fab_jobs);
	bool receives = false;
	int rc = 0;

	j->n_ends = p->traffic->ends->n;
	j->n_parts = p->n_jobs + 1;
	j->part = FAB_ARENA_NEW0(&j->arena, j->n_parts, struct part);
	j->part_of = fab_arena_none(&j->arena, (size_t)j->n_ends + 1);
	j->number = FAB_ARENA_NEW0(&j->arena, (size_t)j->n_ends + 1, uint32_t);
	j->last = FAB_ARENA_NEW0(&j->arena, (size_t)j->n_ends + 1, uint64_t);
	for (uint32_t i = 0; i < p->n_jobs && !rc; i++) {
		const struct fab_job *job = &p->job[i];
		const struct fab_traffic_kind *kind;
		const char *argument;

		rc = fab_traffic_check(job->traffic, &kind, &argument, err);
		if (!rc && !kind->is_finite)
			rc = fab_fail(
				err, EINVAL,
				"traffic %s has no end: expected alltoall, allreduce or trace",
				job->traffic);
		if (rc || !(p->runs >> i & 1))
			continue;
		j->part[i] = (struct part){.end = job->end,
					   .all = p->traffic,
					   .until = UINT64_MAX,
					   .size = job->size};
		rc = make(j, i, job->traffic, job->n, 0, err);
		receives |= j->part[i].traffic.messages.received != NULL;
	}
	if (!rc && p->load > 0)
		rc = add_load(j, p, err);
	if (rc)
		return rc;
	j->messages = (struct fab_messages){.context = j,
					    .next = next,
					    .received = receives ? received : NULL,
					    .completed = completed};
	*out = j;
	j = NULL;
	return 0;
}

void fab_jobs_free(struct fab_jobs *j)
{
	if (!j)
		return;
	for (uint32_t i = 0; j->part && i < j->n_parts; i++)
		fab_traffic_fini(&j->part[i].traffic);
	fab_arena_free(&j->arena);
	free(j);
}

const struct fab_messages *fab_jobs_messages(const struct fab_jobs *j)
{
	return &j->messages;
}

uint64_t fab_jobs_end(const struct fab_jobs *j, uint32_t job, uint32_t *unfinished)
{
	const struct part *part = &j->part[job];
	uint64_t end = 0;

	for (uint32_t i = 0; i < part->ends.n; i++)
		if (j->last[part->end[i]] > end)
			end = j->last[part->end[i]];
	*unfinished = fab_traffic_unfinished(&part->traffic);
	return end;
}
