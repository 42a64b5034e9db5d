/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/site.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

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
