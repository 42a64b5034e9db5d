/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdma/rdma.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/threads.h"
#include "fabric/dist.h"
#include "traffic/connection_matrix.h"
#include "traffic/ends.h"
#include "traffic/message_trace.h"
#include "traffic/permutation.h"

/* Is the number of transfers possible? */
static int check_number(uint64_t n, struct fab_err *err)
{
	if (n <= FAB_RDMA_TRANSFERS_MAX)
		return 0;
	return fab_fail(err, EINVAL, "%" PRIu64 " transfers: %d are the most", n,
			FAB_RDMA_TRANSFERS_MAX);
}

/* One from the first end to the second; a READ is asked for by the one that gets it. */
static void add(const struct fab_rdma_pattern_problem *p, uint32_t from, uint32_t to,
		struct fab_rdma_transfers *out)
{
	const struct fab_rdma_transfer t = {.bytes = p->bytes,
					    .source = p->is_read ? to : from,
					    .target = p->is_read ? from : to,
					    .is_read = p->is_read};

	for (uint32_t i = 0; i < p->repeats; i++)
		FAB_PUSH(&out->of, t);
}

/* First end of each switch, FAB_NONE: none; on the heap. */
static uint32_t *ends_of_switches(const struct fab_rdma_pattern_problem *p)
{
	uint32_t *first = FAB_NEW(p->f->n_switches + 1, uint32_t);

	memset(first, 0xff, p->f->n_switches * sizeof(*first));
	for (uint32_t e = p->ends->n; e--;)
		first[p->ends->sw[e]] = e;
	return first;
}

/* The first of the ends whose switches are farthest apart, and where these are the same
 * one the first two. */
static int find_farthest(const struct fab_rdma_pattern_problem *p, uint32_t *from,
			 uint32_t *to, struct fab_err *err)
{
	struct fab_dist *dist;
	int rc = fab_dist_new(p->f, 0, &dist, err), most = -1;
	uint32_t *first;

	fab_threads_rest(fab_threads(0));
	if (rc)
		return rc;
	first = ends_of_switches(p);
	*from = 0;
	*to = 1;
	for (uint32_t e = 0; e < p->ends->n; e++) {
		const uint8_t *row;

		if (first[p->ends->sw[e]] != e)
			continue;
		row = fab_dist_row(dist, p->ends->sw[e]);
		for (uint32_t sw = 0; sw < p->f->n_switches; sw++)
			if (first[sw] != FAB_NONE && first[sw] != e &&
			    row[sw] != FAB_HOPS_UNREACHABLE && row[sw] > most) {
				most = row[sw];
				*from = e;
				*to = first[sw];
			}
	}
	free(first);
	fab_dist_free(dist);
	return 0;
}

/* "SRC,DST" by any names. */
static int find_pair(const struct fab_rdma_pattern_problem *p, const char *argument,
		     uint32_t pair[2], struct fab_err *err)
{
	const char *comma = strchr(argument, ',');
	const struct fab_item item[2] = {
		{.text = argument, .len = (size_t)(comma - argument)},
		{.text = comma + 1, .len = strlen(comma + 1)}};
	struct fab_end_names names;
	int rc = 0;

	fab_end_names_init(&names, p->f, p->ends);
	for (int i = 0; i < 2 && !rc; i++) {
		struct fab_ids ends = {{0}};

		rc = fab_end_names_find(&names, &item[i], &ends, err);
		if (!rc && ends.of.n != 1)
			rc = fab_fail(err, EINVAL,
				      "'%.*s' is %zu endpoints: expected one",
				      (int)item[i].len, item[i].text, ends.of.n);
		if (!rc)
			pair[i] = ends.of.v[0];
		free(ends.of.v);
	}
	fab_end_names_fini(&names);
	if (!rc && pair[0] == pair[1])
		rc = fab_fail(err, EINVAL, "'%s': both are the same endpoint", argument);
	return rc;
}

static int check_pair(const char *argument, struct fab_err *err)
{
	const char *comma = strchr(argument, ',');

	if (!*argument || (comma && comma != argument && comma[1]))
		return 0;
	return fab_fail(err, EINVAL, "expected pair or pair:SOURCE,TARGET");
}

static int make_pair(const struct fab_rdma_pattern_problem *p, const char *argument,
		     struct fab_rdma_transfers *out, struct fab_err *err)
{
	uint32_t pair[2];
	int rc = *argument ? find_pair(p, argument, pair, err)
			   : find_farthest(p, &pair[0], &pair[1], err);

	if (!rc)
		add(p, pair[0], pair[1], out);
	return rc;
}

static int check_permutation(const char *argument, struct fab_err *err)
{
	return *argument ? fab_permutation_check(argument, err) : 0;
}

static int make_permutation(const struct fab_rdma_pattern_problem *p,
			    const char *argument, struct fab_rdma_transfers *out,
			    struct fab_err *err)
{
	const struct fab_permutation_problem problem = {p->f, p->kfat, p->ends, p->seed};
	uint32_t *to;
	int rc =
		fab_permutation_make(*argument ? argument : "random", &problem, &to, err);

	if (rc)
		return rc;
	for (uint32_t e = 0; e < p->ends->n; e++)
		if (to[e] != FAB_NONE && to[e] != e)
			add(p, e, to[e], out);
	free(to);
	return 0;
}

static int check_incast(const char *argument, struct fab_err *err)
{
	uint64_t k;

	if (fab_parse_u64(argument, strlen(argument), 1, UINT32_MAX, &k))
		return 0;
	return fab_fail(err, EINVAL, "expected incast:K, a number of senders");
}

/* Senders evenly apart among all but the first end, which is the target. */
static int make_incast(const struct fab_rdma_pattern_problem *p, const char *argument,
		       struct fab_rdma_transfers *out, struct fab_err *err)
{
	uint32_t n = p->ends->n;
	uint64_t k;

	if (!fab_parse_u64(argument, strlen(argument), 1, UINT32_MAX, &k))
		return check_incast(argument, err);
	if (k + 1 > n)
		return fab_fail(
			err, EINVAL,
			"incast:%s: there are %u live endpoints, one of them the target",
			argument, n);
	for (uint64_t i = 0; i < k; i++)
		add(p, (uint32_t)(1 + i * (n - 1) / k), 0, out);
	return 0;
}

static int check_alltoall(const char *argument, struct fab_err *err)
{
	uint64_t rounds;

	if (!*argument ||
	    fab_parse_u64(argument, strlen(argument), 1, UINT32_MAX, &rounds))
		return 0;
	return fab_fail(err, EINVAL, "expected alltoall or alltoall:ROUNDS");
}

/* Round by round: in round r all send to the one r farther on; of the n - 1 rounds all,
 * or a number of them evenly apart. */
static int make_alltoall(const struct fab_rdma_pattern_problem *p, const char *argument,
			 struct fab_rdma_transfers *out, struct fab_err *err)
{
	uint64_t n = p->ends->n, rounds = n - 1;
	int rc;

	if (*argument && !fab_parse_u64(argument, strlen(argument), 1, n - 1, &rounds))
		return fab_fail(err, EINVAL,
				"alltoall:%s: between %" PRIu64
				" live endpoints there are %" PRIu64 " rounds",
				argument, n, n - 1);
	rc = check_number(n * rounds * p->repeats, err);
	for (uint64_t r = 0; r < rounds && !rc; r++)
		for (uint64_t e = 0; e < n; e++)
			add(p, (uint32_t)e,
			    (uint32_t)((e + 1 + r * (n - 1) / rounds) % n), out);
	return rc;
}

static int check_path(const char *argument, struct fab_err *err)
{
	return *argument ? 0 : fab_fail(err, EINVAL, "the file name is empty");
}

/* One of a file, with its own bytes and time. */
static void add_timed(const struct fab_rdma_pattern_problem *p, uint32_t from,
		      uint32_t to, uint64_t bytes, uint64_t start_ps,
		      struct fab_rdma_transfers *out)
{
	size_t first = out->of.n;

	add(p, from, to, out);
	for (size_t i = first; i < out->of.n; i++) {
		out->of.v[i].bytes = bytes;
		out->of.v[i].start_ps = start_ps;
	}
}

static int make_file(const struct fab_rdma_pattern_problem *p, const char *argument,
		     struct fab_rdma_transfers *out, struct fab_err *err)
{
	struct fab_connection_matrix m;
	int rc = fab_connection_matrix_read(p->ends->n, argument, &m, err);

	if (rc)
		return rc;
	rc = check_number((uint64_t)m.of.n * p->repeats, err);
	for (size_t i = 0; i < m.of.n && !rc; i++)
		add_timed(p, m.of.v[i].from, m.of.v[i].to, m.of.v[i].bytes,
			  m.of.v[i].start_ps, out);
	out->n_priorities = m.n_priorities;
	free(m.of.v);
	return rc;
}

static int make_trace(const struct fab_rdma_pattern_problem *p, const char *argument,
		      struct fab_rdma_transfers *out, struct fab_err *err)
{
	struct fab_message_trace trace;
	int rc = fab_message_trace_read(p->f, p->ends, false, argument, &trace, err);

	if (rc)
		return rc;
	rc = check_number((uint64_t)trace.of.n * p->repeats, err);
	out->n_left_out = trace.n_to_self;
	for (size_t i = 0; i < trace.of.n && !rc; i++) {
		const struct fab_traced_message *m = &trace.of.v[i];

		if (m->bytes)
			add_timed(p, m->from, m->to, m->bytes, m->time, out);
		else
			out->n_left_out++;
	}
	free(trace.of.v);
	return rc;
}

static const struct fab_rdma_pattern patterns[] = {
	{.form = "pair",
	 .summary = "the two endpoints farthest apart",
	 .manual =
		 "One transfer between the two endpoints whose switches are farthest apart by hops, the first such two; with `:SOURCE,TARGET` between those two, by any names.",
	 .argument_is_optional = true,
	 .check = check_pair,
	 .make = make_pair},
	{.form = "permutation",
	 .summary = "each endpoint to one other (:SPEC as of fabric-faults)",
	 .manual =
		 "Each endpoint to one other: `random` by `--seed`, or with `:SPEC` one of the permutations of fabric-faults(1), such as `shift:1` or `file:PATH`.",
	 .argument_is_optional = true,
	 .check = check_permutation,
	 .make = make_permutation},
	{.form = "incast:K",
	 .summary = "K endpoints to the first one",
	 .manual =
		 "`K` endpoints, evenly apart in the order of the fabric, to the first one.",
	 .check = check_incast,
	 .make = make_incast},
	{.form = "alltoall",
	 .summary = "every endpoint to every other",
	 .manual =
		 "Every endpoint to every other, each beginning with its next neighbour in the order of the fabric; all at once, or with `--concurrency` so many at a time. With `:ROUNDS` so many others only, evenly apart: a sample, where all would take long to simulate.",
	 .argument_is_optional = true,
	 .check = check_alltoall,
	 .make = make_alltoall},
	{.form = "file:PATH",
	 .summary = "a connection matrix of htsim",
	 .manual =
		 "A connection matrix as htsim has them: `Nodes`, `Connections` and lines `A->B id I start T size S`, picoseconds and bytes; nodes are numbers of live endpoints in the order of the fabric.",
	 .has_sizes = true,
	 .check = check_path,
	 .make = make_file},
	{.form = "trace:PATH",
	 .summary = "messages of a trace of fabric-sim",
	 .manual =
		 "Lines `TIME SOURCE TARGET BYTES`, the traces of messages that fabric-sim(1) reads.",
	 .has_sizes = true,
	 .check = check_path,
	 .make = make_trace},
};

static struct fab_choice choice_at(size_t i)
{
	return (struct fab_choice){patterns[i].form, patterns[i].summary,
				   patterns[i].manual, true};
}

const struct fab_choices fab_rdma_pattern_choices = {
	.what = "pattern", .n = FAB_COUNT(patterns), .at = choice_at};

int fab_rdma_pattern_check(const char *spec, const struct fab_rdma_pattern **pattern,
			   const char **argument, struct fab_err *err)
{
	size_t len = fab_choice_name_len(spec);
	uint32_t row = fab_choices_find(&fab_rdma_pattern_choices, spec, len);
	const struct fab_rdma_pattern *p;

	if (row == FAB_NONE)
		return fab_choices_refuse(&fab_rdma_pattern_choices, spec, len, NULL,
					  err);
	p = &patterns[row];
	*pattern = p;
	*argument = spec[len] ? spec + len + 1 : "";
	if (!p->check && spec[len])
		return fab_fail(err, EINVAL, "'%s': %s takes no argument", spec, p->form);
	if (spec[len] && !**argument)
		return fab_fail(err, EINVAL, "'%s': the argument is empty", spec);
	return p->check ? p->check(*argument, err) : 0;
}

int fab_rdma_pattern_make(const char *spec, const struct fab_rdma_pattern_problem *p,
			  struct fab_rdma_transfers *out, struct fab_err *err)
{
	const struct fab_rdma_pattern *pattern = NULL;
	const char *argument = "";
	int rc = fab_rdma_pattern_check(spec, &pattern, &argument, err);

	*out = (struct fab_rdma_transfers){{0}};
	if (rc)
		return rc;
	if (p->ends->n < 2)
		return fab_fail(err, EINVAL, "%u live endpoint%s: a transfer needs two",
				p->ends->n, p->ends->n == 1 ? "" : "s");
	rc = check_number((uint64_t)p->ends->n * p->repeats, err);
	if (!rc)
		rc = pattern->make(p, argument, out, err);
	if (!rc && !out->of.n)
		rc = fab_fail(err, EINVAL, "pattern %s: nothing to transfer", spec);
	if (rc) {
		free(out->of.v);
		*out = (struct fab_rdma_transfers){{0}};
	}
	return rc;
}

bool fab_rdma_pattern_is_drawn(const char *spec)
{
	return !strcmp(spec, "permutation") || !strcmp(spec, "permutation:random");
}
