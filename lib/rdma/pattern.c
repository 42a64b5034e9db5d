/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdma/rdma.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/threads.h"
#include "fabric/dist.h"
#include "traffic/ends.h"
#include "traffic/messages.h"
#include "traffic/traffic.h"

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

/* "SRC,DST" by any names; without them the first of the ends whose switches are farthest
 * apart, and where these are the same one the first two. */
static int make_pair(const struct fab_rdma_pattern_problem *p, const char *argument,
		     struct fab_rdma_transfers *out, struct fab_err *err)
{
	const char *comma = strchr(argument, ',');
	FAB_AUTO(fab_end_names_fini) struct fab_end_names names = {0};
	FAB_AUTO(fab_dist_free_at) struct fab_dist *dist = NULL;
	uint32_t pair[2] = {0, 1};
	FAB_AUTOFREE uint32_t *first = NULL;
	int rc = 0, most = -1;

	if (comma) {
		const struct fab_item item[2] = {
			{.text = argument, .len = (size_t)(comma - argument)},
			{.text = comma + 1, .len = strlen(comma + 1)}};

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
		if (!rc && pair[0] == pair[1])
			rc = fab_fail(err, EINVAL, "'%s': both are the same endpoint",
				      argument);
		if (!rc)
			add(p, pair[0], pair[1], out);
		return rc;
	}
	rc = fab_dist_new(p->f, 0, &dist, err);
	fab_threads_rest(fab_threads(0));
	if (rc)
		return rc;
	/* first end of each switch */
	first = fab_none_new(p->f->n_switches + 1);
	for (uint32_t e = p->ends->n; e--;)
		first[p->ends->sw[e]] = e;
	for (uint32_t e = 0; e < p->ends->n; e++) {
		const uint8_t *row = fab_dist_row(dist, p->ends->sw[e]);

		for (uint32_t sw = 0; first[p->ends->sw[e]] == e && sw < p->f->n_switches;
		     sw++)
			if (first[sw] != FAB_NONE && first[sw] != e &&
			    row[sw] != FAB_HOPS_UNREACHABLE && row[sw] > most) {
				most = row[sw];
				pair[0] = e;
				pair[1] = first[sw];
			}
	}
	add(p, pair[0], pair[1], out);
	return 0;
}

static int make_permutation(const struct fab_rdma_pattern_problem *p,
			    const char *argument, struct fab_rdma_transfers *out,
			    struct fab_err *err)
{
	const struct fab_permutation_problem problem = {p->f, p->kfat, p->ends, p->seed};
	FAB_AUTOFREE uint32_t *to = NULL;
	int rc =
		fab_permutation_make(*argument ? argument : "random", &problem, &to, err);

	if (rc)
		return rc;
	for (uint32_t e = 0; e < p->ends->n; e++)
		if (to[e] != FAB_NONE && to[e] != e)
			add(p, e, to[e], out);
	return 0;
}

/* Senders evenly apart among all but the first end, which is the target. */
static int make_incast(const struct fab_rdma_pattern_problem *p, const char *argument,
		       struct fab_rdma_transfers *out, struct fab_err *err)
{
	uint32_t n = p->ends->n;
	uint64_t k;

	if (!fab_parse_u64(argument, strlen(argument), 1, UINT32_MAX, &k) || k + 1 > n)
		return fab_fail(
			err, EINVAL,
			"incast:%s: there are %u live endpoints, one of them the target",
			argument, n);
	for (uint64_t i = 0; i < k; i++)
		add(p, (uint32_t)(1 + i * (n - 1) / k), 0, out);
	return 0;
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

/* One of a file, with its own bytes and time. */
static void add_timed(struct fab_rdma_pattern_problem p, uint32_t from, uint32_t to,
		      uint64_t bytes, uint64_t start_ps, struct fab_rdma_transfers *out)
{
	size_t first = out->of.n;

	p.bytes = bytes;
	add(&p, from, to, out);
	for (size_t i = first; i < out->of.n; i++)
		out->of.v[i].start_ps = start_ps;
}

static int make_messages(const struct fab_rdma_pattern_problem *p,
			 enum fab_message_form form, const char *path,
			 struct fab_rdma_transfers *out, struct fab_err *err)
{
	struct fab_message_file file;
	int rc = fab_message_file_read(p->f, p->ends, form, path, &file, err);

	if (rc)
		return rc;
	rc = check_number((uint64_t)file.of.n * p->repeats, err);
	out->n_priorities = file.n_priorities;
	out->n_left_out = file.n_to_self;
	for (size_t i = 0; i < file.of.n && !rc; i++) {
		const struct fab_timed_message *m = &file.of.v[i];

		if (m->bytes)
			add_timed(*p, m->from, m->to, m->bytes, m->time, out);
		else
			out->n_left_out++;
	}
	free(file.of.v);
	return rc;
}

/* Parameters behind the name in a spec. */
enum argument { TWO_ENDS, PERMUTATION, NUMBER, ROUNDS, PATH };

static const struct pattern {
	const char *form, *summary, *manual; /* as struct fab_choice has them */
	const char *expected;		     /* of a wrong argument */
	enum argument argument;
	enum fab_message_form messages; /* of a file, without make() */
	int (*make)(const struct fab_rdma_pattern_problem *p, const char *argument,
		    struct fab_rdma_transfers *out, struct fab_err *err);
} patterns[] = {
	{.form = "pair",
	 .summary = "the two endpoints farthest apart",
	 .manual =
		 "One transfer between the first two endpoints whose switches are farthest apart by hops, or between `:SOURCE,TARGET`.",
	 .expected = "expected pair or pair:SOURCE,TARGET",
	 .argument = TWO_ENDS,
	 .make = make_pair},
	{.form = "permutation",
	 .summary = "each endpoint to one other (:SPEC as of fabric-faults)",
	 .manual =
		 "Each endpoint to one other: `random` by `--seed`, or with `:SPEC` one of the permutations of fabric-faults(1), such as `shift:1` or `file:PATH`.",
	 .argument = PERMUTATION,
	 .make = make_permutation},
	{.form = "incast:K",
	 .summary = "K endpoints to the first one",
	 .manual =
		 "`K` endpoints, evenly apart in the order of the fabric, to the first one.",
	 .expected = "expected incast:K, a number of senders",
	 .argument = NUMBER,
	 .make = make_incast},
	{.form = "alltoall",
	 .summary = "every endpoint to every other",
	 .manual =
		 "Every endpoint to every other, each beginning with its next neighbour in the order of the fabric; all at once, or up to `--set concurrency`. `:ROUNDS`: that many others only, evenly apart, a sample where all would take long to simulate.",
	 .expected = "expected alltoall or alltoall:ROUNDS",
	 .argument = ROUNDS,
	 .make = make_alltoall},
	{.form = "file:PATH",
	 .summary = "a connection matrix of htsim",
	 .manual =
		 "A connection matrix of htsim: `Nodes`, `Connections` and lines `A->B id I start T size S`, picoseconds and bytes; nodes are numbers of live endpoints in the order of the fabric.",
	 .expected = "the file name is empty",
	 .argument = PATH,
	 .messages = FAB_MESSAGES_HTSIM},
	{.form = "trace:PATH",
	 .summary = "messages of a trace of fabric-sim",
	 .manual = "A trace of messages, as fabric-sim(1) reads it.",
	 .expected = "the file name is empty",
	 .argument = PATH,
	 .messages = FAB_MESSAGES_TRACE},
};

FAB_CHOICES_OF(fab_rdma_pattern_choices, "pattern", FAB_COUNT(patterns), patterns[i],
	       form);

/* The pattern of a spec and its argument, "" without one. */
static int split(const char *spec, const struct pattern **pattern, const char **argument,
		 struct fab_err *err)
{
	size_t len = fab_choice_name_len(spec);
	uint32_t row = fab_choices_find(&fab_rdma_pattern_choices, spec, len);
	const char *text = spec[len] ? spec + len + 1 : "", *comma = strchr(text, ',');
	bool is_right = true;
	uint64_t n;

	if (row == FAB_NONE)
		return fab_choices_refuse(&fab_rdma_pattern_choices, spec, len, NULL,
					  err);
	*pattern = &patterns[row];
	*argument = text;
	if (spec[len] && !*text)
		return fab_fail(err, EINVAL, "'%s': the argument is empty", spec);
	switch (patterns[row].argument) {
	case TWO_ENDS:
		is_right = !*text || (comma && comma != text && comma[1]);
		break;
	case PERMUTATION:
		return *text ? fab_permutation_check(text, err) : 0;
	case NUMBER:
	case ROUNDS:
		is_right = fab_parse_u64(text, strlen(text), 1, UINT32_MAX, &n) ||
			   (!*text && patterns[row].argument == ROUNDS);
		break;
	case PATH:
		is_right = *text;
	}
	return is_right ? 0 : fab_fail(err, EINVAL, "%s", patterns[row].expected);
}

int fab_rdma_pattern_check(const char *spec, struct fab_err *err)
{
	const struct pattern *pattern;
	const char *argument;

	return split(spec, &pattern, &argument, err);
}

int fab_rdma_pattern_make(const char *spec, const struct fab_rdma_pattern_problem *p,
			  struct fab_rdma_transfers *out, struct fab_err *err)
{
	const struct pattern *pattern = NULL;
	const char *argument = "";
	int rc = split(spec, &pattern, &argument, err);

	*out = (struct fab_rdma_transfers){{0}};
	if (rc)
		return rc;
	if (p->ends->n < 2)
		return fab_fail(err, EINVAL, "%u live endpoint%s: a transfer needs two",
				p->ends->n, p->ends->n == 1 ? "" : "s");
	rc = check_number((uint64_t)p->ends->n * p->repeats, err);
	if (!rc)
		rc = pattern->make
			     ? pattern->make(p, argument, out, err)
			     : make_messages(p, pattern->messages, argument, out, err);
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
