/* SPDX-License-Identifier: BSD-2-Clause */
/* What benchmarks share: errors end the program; fabrics, groups and tables; time and
 * memory; rows in processes of their own. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/progress.h"
#include "mcast/groups.h"
#include "source/source.h"
#include "unicast/engine.h"

/* The call, with a struct fab_err as its last argument, gives 0, or the program ends with
 * the message. */
#define MUST(function, ...)                                                              \
	do {                                                                             \
		struct fab_err must_err = {""};                                          \
		if (function(__VA_ARGS__, &must_err)) {                                  \
			fprintf(stderr, "%s\n", must_err.text);                          \
			exit(1);                                                         \
		}                                                                        \
	} while (0)

static inline struct fab_fabric *bench_fabric(const char *spec)
{
	struct fab_fabric *f = NULL;

	MUST(fab_source_open, spec, NULL, &f);
	return f;
}

/* Groups of a pattern under seed 1. */
static inline struct fab_groups *bench_groups(const struct fab_fabric *f,
					      const char *pattern)
{
	struct fab_groups_builder *b = fab_groups_builder_new(f);
	struct fab_groups *groups = NULL;

	MUST(fab_groups_add_pattern, b, pattern, 1);
	MUST(fab_groups_builder_finish, b, false, &groups);
	return groups;
}

static inline struct fab_routes *bench_route(const struct fab_unicast_problem *problem,
					     const char *engine)
{
	struct fab_routes *r = NULL;

	MUST(fab_unicast_route, fab_unicast_engine_find(engine, strlen(engine)), problem,
	     &r);
	return r;
}

/* Processor time of all threads. */
static inline double bench_cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Seconds that a statement takes, by the clock or of all threads. */
#define SECONDS_BY(now, statement)                                                       \
	__extension__({                                                                  \
		double start_ = now();                                                   \
                                                                                         \
		statement;                                                               \
		now() - start_;                                                          \
	})
#define SECONDS(statement) SECONDS_BY(fab_now, statement)
#define CPU_SECONDS(statement) SECONDS_BY(bench_cpu, statement)

/* Peak memory of this process so far. */
static inline double bench_peak_mib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

/* In a process of its own, so that no row inherits the memory of the one before. */
static inline void bench_apart(void (*work)(const void *), const void *row)
{
	int status = 0;

	fflush(stdout);
	if (!fork()) {
		work(row);
		fflush(stdout);
		_exit(0);
	}
	if (wait(&status) < 0 || status)
		exit(1);
}
