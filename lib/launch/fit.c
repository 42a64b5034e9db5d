/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/fit.h"

#include "base/mem.h"
#include "base/num.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SWEEPS = 40, STEPS = 40, SHOWN = 60 };
static const double GOLDEN = 0.6180339887498949, LEAST_EFFECT = 0.005, TOLERANCE = 1e-7,
		    TRUST = 1.1;
/* A day. */
#define MOST_NS (UINT64_C(86400) * 1000000000)

int fab_fit_parse(const char *text, enum fab_stage_in stage_in, struct fab_fit_start *out,
		  struct fab_err *err)
{
	size_t n_ranks = strcspn(text, ":="), n_nodes, n_how = 0;
	const char *nodes = text + n_ranks + (text[n_ranks] == ':'), *how, *time;
	uint64_t ranks, n, ns = 0;
	bool is_fine;
	uint32_t row = stage_in;

	n_nodes = strcspn(nodes, ":=");
	how = nodes + n_nodes + (nodes[n_nodes] == ':');
	if (nodes[n_nodes] == ':')
		n_how = strcspn(how, "=");
	time = how + n_how;
	is_fine = text[n_ranks] == ':' && *time == '=' &&
		  fab_parse_u64(text, n_ranks, 1, UINT32_MAX, &ranks) &&
		  fab_parse_u64(nodes, n_nodes, 1, FAB_FENCE_NODES_MAX, &n) &&
		  ranks >= n && (ranks + n - 1) / n <= FAB_SIZE_MAX_PPN;
	if (is_fine && nodes[n_nodes] == ':') {
		row = fab_choices_find(&fab_stage_ins, how, n_how);
		if (row == FAB_NONE)
			return fab_choices_refuse(&fab_stage_ins, how, n_how, NULL, err);
	}
	if (!is_fine)
		return fab_fail(
			err, EINVAL,
			"'%.*s' is no observed start: expected RANKS:NODES[:STAGE-IN]=TIME, such as 2240:40=11.8s",
			SHOWN, text);
	*out = (struct fab_fit_start){.text = text,
				      .ranks = (uint32_t)ranks,
				      .nodes = (uint32_t)n,
				      .stage_in = row};
	if (fab_parse_time_ns(time + 1, strlen(time + 1), MOST_NS, &ns, err))
		return -EINVAL;
	if (!ns)
		return fab_fail(err, EINVAL, "'%.*s' takes no time", SHOWN, text);
	out->measured_s = (double)ns / 1e9;
	return 0;
}

struct search {
	struct fab_fit *fit;
	const struct fab_launch_start *base;
	struct fab_launch_params *params;
	const struct fab_launch_params *was;
	double z[FAB_FIT_CONSTANTS_MAX]; /* of each constant */
	struct fab_err *err;
};

/* The value of a constant at -1 to 1. */
static double value_at(const struct fab_launch_value *v, double z)
{
	double end = z < 0 ? v->low : v->high;

	if (!(v->low > 0))
		return v->value + fabs(z) * (end - v->value);
	return v->value * pow(end / v->value, fabs(z));
}

static struct fab_launch_start start_of(const struct search *s, size_t i)
{
	const struct fab_fit_start *of = &s->fit->starts[i];
	struct fab_launch_start start = *s->base;

	start.n_nodes = of->nodes;
	start.ppn = (of->ranks + of->nodes - 1) / of->nodes;
	start.stage_in = of->stage_in;
	return start;
}

static int time_of(const struct search *s, size_t i, double *out)
{
	struct fab_launch_start start = start_of(s, i);

	return fab_launch_total_of(&start, s->params, out, s->err);
}

static int sum_of(const struct search *s, double *out)
{
	const struct fab_fit *fit = s->fit;
	int rc = 0;

	*out = 0;
	for (size_t k = 0; k < fit->n_constants; k++) {
		enum fab_launch_constant constant = fit->constants[k].constant;

		s->params->of[constant].value = value_at(&s->was->of[constant], s->z[k]);
		*out += 4 * s->z[k] * s->z[k];
	}
	for (size_t i = 0; i < fit->n_starts && !rc; i++) {
		double total_s = 0, off;

		rc = time_of(s, i, &total_s);
		off = log(total_s / fit->starts[i].measured_s) / log(TRUST);
		*out += off * off;
	}
	return rc;
}

static int sum_at(struct search *s, size_t k, double z, double *out)
{
	double was = s->z[k];
	int rc;

	s->z[k] = z;
	rc = sum_of(s, out);
	s->z[k] = was;
	return rc;
}

/* The least sum over one constant, by golden sections around the best of nine points. */
static int improve(struct search *s, size_t k, double *sum)
{
	double low = -1, high = 1, best = s->z[k], at;
	int rc = 0;

	for (int i = -4; i <= 4 && !rc; i++) {
		rc = sum_at(s, k, i / 4.0, &at);
		if (!rc && at < *sum) {
			*sum = at;
			best = i / 4.0;
		}
	}
	low = fmax(-1, best - 0.25);
	high = fmin(1, best + 0.25);
	for (int i = 0; i < STEPS && high - low > 1e-6 && !rc; i++) {
		double a = high - GOLDEN * (high - low), b = low + GOLDEN * (high - low);
		double at_a = 0, at_b = 0;

		rc = sum_at(s, k, a, &at_a);
		if (!rc)
			rc = sum_at(s, k, b, &at_b);
		if (at_a < at_b)
			high = b;
		else
			low = a;
		if (fmin(at_a, at_b) < *sum) {
			*sum = fmin(at_a, at_b);
			best = at_a < at_b ? a : b;
		}
	}
	s->z[k] = best;
	return rc;
}

/* Where the sum is 1 more than the least, towards an end; that, if it is nowhere. */
static int find_limit(struct search *s, size_t k, double end, double sum, double *out)
{
	double inside = s->z[k], outside = end, at;
	int rc = sum_at(s, k, end, &at);

	if (rc || at <= sum + 1) {
		*out = end;
		return rc;
	}
	for (int i = 0; i < STEPS && !rc; i++) {
		double middle = (inside + outside) / 2;

		rc = sum_at(s, k, middle, &at);
		if (at <= sum + 1)
			inside = middle;
		else
			outside = middle;
	}
	*out = inside;
	return rc;
}

/* The starts by the present constants, and the constants that change any of them most. */
static int choose(struct search *s, const bool *uses)
{
	struct fab_fit *fit = s->fit;
	double effect[FAB_N_LAUNCH_CONSTANTS] = {0};
	int rc = 0;

	for (size_t i = 0; i < fit->n_starts && !rc; i++) {
		struct fab_fit_start *of = &fit->starts[i];
		struct fab_launch_start start = start_of(s, i);
		struct fab_launch_range range;

		rc = time_of(s, i, &of->before_s);
		if (!rc)
			rc = fab_launch_range_find(s->was, uses, of->before_s,
						   fab_launch_total_of, &start, &range,
						   s->err);
		if (rc)
			return rc;
		of->low_s = range.least;
		of->high_s = range.most;
		for (size_t k = 0; k < FAB_N_LAUNCH_CONSTANTS; k++)
			effect[k] = fmax(effect[k], range.width[k] / of->before_s);
	}
	while (fit->n_constants < FAB_FIT_CONSTANTS_MAX) {
		size_t most = 0;

		for (size_t k = 1; k < FAB_N_LAUNCH_CONSTANTS; k++)
			if (effect[k] > effect[most])
				most = k;
		if (effect[most] < LEAST_EFFECT)
			break;
		effect[most] = 0;
		fit->constants[fit->n_constants++] = (struct fab_fit_constant){
			.constant = most, .was = fab_launch_value(s->was, most)};
	}
	return rc;
}

static int find_results(struct search *s)
{
	struct fab_fit *fit = s->fit;
	int rc = 0;

	for (size_t k = 0; k < fit->n_constants && !rc; k++) {
		struct fab_fit_constant *c = &fit->constants[k];
		const struct fab_launch_value *v = &s->was->of[c->constant];
		double low = -1, high = 1;

		rc = find_limit(s, k, -1, fit->sum_after, &low);
		if (!rc)
			rc = find_limit(s, k, 1, fit->sum_after, &high);
		c->value = value_at(v, s->z[k]);
		c->low = value_at(v, low);
		c->high = value_at(v, high);
	}
	if (!rc)
		rc = sum_of(s, &fit->sum_after);
	for (size_t i = 0; i < fit->n_starts && !rc; i++) {
		struct fab_fit_start *of = &fit->starts[i];

		rc = time_of(s, i, &of->after_s);
		of->unexplained_s = of->measured_s - of->after_s;
		of->misfit =
			fmax(of->after_s / of->measured_s, of->measured_s / of->after_s);
	}
	return rc;
}

int fab_fit_run(struct fab_fit *fit, const struct fab_launch_start *base,
		struct fab_launch_params *params, const bool *uses, struct fab_err *err)
{
	struct fab_launch_params was = *params;
	struct search s = {
		.fit = fit, .base = base, .params = params, .was = &was, .err = err};
	double last;
	int rc = choose(&s, uses);

	if (!rc)
		rc = sum_of(&s, &fit->sum_before);
	fit->sum_after = fit->sum_before;
	for (int sweep = 0; sweep < SWEEPS && !rc; sweep++) {
		last = fit->sum_after;
		for (size_t k = 0; k < fit->n_constants && !rc; k++)
			rc = improve(&s, k, &fit->sum_after);
		if (last - fit->sum_after < TOLERANCE)
			break;
	}
	if (!rc)
		rc = find_results(&s);
	for (size_t k = 0; k < fit->n_constants && !rc; k++) {
		const struct fab_fit_constant *c = &fit->constants[k];
		struct fab_launch_value *v = &params->of[c->constant];

		*v = was.of[c->constant];
		v->value = c->value;
		v->low = c->low;
		v->high = c->high;
		v->is_default = false;
		snprintf(v->source, sizeof(v->source), "fitted to observed starts");
	}
	return rc;
}

/* File systems measured. */

enum { BLOCK = 1 << 20 };
/* Seconds of opens, at least. */
static const double LEAST_S = 0.2;

struct job {
	const char *const *found, *const *missing;
	size_t n_files, n_missing;
	const char *failed; /* a file; NULL: none */
	int error;
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void fail(struct job *job, const char *path)
{
	int error = errno;

#pragma omp critical(fab_site)
	if (!job->failed) {
		job->failed = path;
		job->error = error;
	}
}

/* All files once, and all names in vain; returns the number of opens. */
static uint64_t open_all(struct job *job)
{
	struct stat st;

	for (size_t i = 0; i < job->n_missing; i++) {
		int fd = open(job->missing[i], O_RDONLY | O_CLOEXEC);

		if (fd >= 0)
			close(fd);
	}
	for (size_t i = 0; i < job->n_files; i++) {
		int fd = open(job->found[i], O_RDONLY | O_CLOEXEC);

		if (fd < 0 || fstat(fd, &st))
			fail(job, job->found[i]);
		if (fd >= 0)
			close(fd);
	}
	return job->n_missing + job->n_files;
}

/* Read all files, each after this node has dropped its data. */
static uint64_t read_all(struct job *job)
{
	FAB_AUTOFREE char *block = malloc(BLOCK);
	uint64_t bytes = 0;

	for (size_t i = 0; block && i < job->n_files; i++) {
		int fd = open(job->found[i], O_RDONLY | O_CLOEXEC);
		ssize_t got = -1;

		if (fd >= 0) {
			(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
			while ((got = read(fd, block, BLOCK)) > 0)
				bytes += (uint64_t)got;
			close(fd);
		}
		if (got < 0)
			fail(job, job->found[i]);
	}
	return bytes;
}

static void measure(struct job *job, int n_threads, struct fab_site_rates *out)
{
	uint64_t opens = 0, bytes = 0;
	double start = now_s(), took;

	*out = (struct fab_site_rates){.n_threads = (uint32_t)n_threads};
#pragma omp parallel num_threads(n_threads) reduction(+ : opens)
	while (now_s() - start < LEAST_S && !job->error)
		opens += open_all(job);
	took = now_s() - start;
	out->opens_per_s = (double)opens / took;
	out->open_us = took * n_threads / (double)opens * 1e6;
	start = now_s();
#pragma omp parallel num_threads(n_threads) reduction(+ : bytes)
	do
		bytes += read_all(job);
	while (now_s() - start < LEAST_S && !job->error);
	took = now_s() - start;
	out->read_MBps = (double)bytes / 1e6 / took;
}

int fab_site_measure(const char *const *found, size_t n_files, const char *const *missing,
		     size_t n_missing, int n_threads, struct fab_site *out,
		     struct fab_err *err)
{
	struct job job = {found, missing, n_files, n_missing, NULL, 0};

	*out = (struct fab_site){.n_files = n_files, .n_missing = n_missing};
	if (!n_files)
		return fab_fail(err, EINVAL, "no files to measure");
	(void)open_all(&job);
	if (!job.error)
		out->bytes = read_all(&job);
	if (!job.error)
		measure(&job, 1, &out->one);
	if (!job.error)
		measure(&job, n_threads, &out->all);
	if (job.error)
		return fab_fail(err, EIO, "%s: %s", job.failed, strerror(job.error));
	return 0;
}

static void set(struct fab_launch_params *params, enum fab_launch_constant constant,
		double value, double high, const char *host, const char *what)
{
	struct fab_launch_value *v = &params->of[constant];

	*v = (struct fab_launch_value){
		.value = value, .spread = (double)NAN, .origin = FAB_MEASURED};
	if (high > value) {
		v->origin = FAB_ASSUMED;
		v->low = value;
		v->high = high;
	}
	snprintf(v->source, sizeof(v->source), "%s, measured on %s", what, host);
}

void fab_site_apply(const struct fab_site *site, const char *host,
		    struct fab_launch_params *params)
{
	double files = (double)site->n_files, MBps = site->all.read_MBps;
	double ops = site->all.opens_per_s;

	set(params, FAB_CONST_files, files, 0, host, "files of the program");
	set(params, FAB_CONST_lookups, (double)site->n_missing / files, 0, host,
	    "paths tried in vain, for each file");
	set(params, FAB_CONST_image_MB, (double)site->bytes / 1e6, 0, host,
	    "files of the program");
	set(params, FAB_CONST_open_us, site->one.open_us, 0, host, "opens by one core");
	set(params, FAB_CONST_node_MBps, MBps, 0, host, "reads by all cores");
	/* one node shows no more than its own share of the servers */
	if (ops > FAB_PARAM(params, fs_ops))
		set(params, FAB_CONST_fs_ops, ops, 10 * ops, host,
		    "least: opens by all cores of one node");
	else if (params->of[FAB_CONST_fs_ops].low < ops)
		params->of[FAB_CONST_fs_ops].low = ops;
	if (MBps > FAB_PARAM(params, fs_MBps))
		set(params, FAB_CONST_fs_MBps, MBps, 10 * MBps, host,
		    "least: reads by all cores of one node");
	else if (params->of[FAB_CONST_fs_MBps].low < MBps)
		params->of[FAB_CONST_fs_MBps].low = MBps;
}
