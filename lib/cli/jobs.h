/* SPDX-License-Identifier: BSD-2-Clause */
/* Results of --job: a row for each job, and the sentence which is slowed most. */
#pragma once

#include "present/report.h"
#include "traffic/jobs.h"

/* A job under one algorithm or scheme; times as printed, NaN: not finished. */
struct fab_cli_job {
	const char *by;	 /* the algorithm or scheme */
	uint64_t number; /* from 1 */
	const char *traffic;
	uint64_t hosts, unfinished;
	double alone, together, slowdown;
	const char *slowed_by; /* its traffic; NULL: no other */
	uint64_t slowed_by_number;
	double with;
	uint64_t runs;	    /* times are their means */
	double least, most; /* slowdown of a run */
};

/* Columns of a table of them; TIME is _ns or _us. */
#define FAB_CLI_JOB_COLUMNS(BY, BY_HELP, TIME, TIME_HELP, PARTS)                         \
	{BY, FAB_TEXT, BY_HELP, 0, FAB_AT(struct fab_cli_job, by)},                      \
		{"job", FAB_UINT, "number of the job, in the order of --job", 0,         \
		 FAB_AT(struct fab_cli_job, number)},                                    \
		{"traffic", FAB_TEXT, "what it sends", 0,                                \
		 FAB_AT(struct fab_cli_job, traffic)},                                   \
		{"hosts", FAB_UINT, "hosts of the job", 0,                               \
		 FAB_AT(struct fab_cli_job, hosts)},                                     \
		{"alone" TIME, FAB_REAL,                                                 \
		 "until its last message has arrived, without other jobs, " TIME_HELP    \
		 "; null: not finished",                                                 \
		 FAB_COL_EXACT, FAB_AT(struct fab_cli_job, alone)},                      \
		{"together" TIME, FAB_REAL, "with all jobs, and the load",               \
		 FAB_COL_EXACT, FAB_AT(struct fab_cli_job, together)},                   \
		{"slowdown", FAB_REAL, "together" TIME " / alone" TIME, 0,               \
		 FAB_AT(struct fab_cli_job, slowdown)},                                  \
		{"slowed_by", FAB_UINT,                                                  \
		 "the job that slows it most; 0: there is no other", 0,                  \
		 FAB_AT(struct fab_cli_job, slowed_by_number)},                          \
		{"with" TIME, FAB_REAL, "with that job alone",                           \
		 FAB_COL_EXTRA | FAB_COL_EXACT, FAB_AT(struct fab_cli_job, with)},       \
		{"runs", FAB_UINT, "runs with different random numbers", FAB_COL_EXTRA,  \
		 FAB_AT(struct fab_cli_job, runs)},                                      \
		{"slowdown_least", FAB_REAL, "the least slowdown of a run",              \
		 FAB_COL_EXTRA, FAB_AT(struct fab_cli_job, least)},                      \
		{"slowdown_most", FAB_REAL, "the greatest", FAB_COL_EXTRA,               \
		 FAB_AT(struct fab_cli_job, most)},                                      \
		{"unfinished", FAB_UINT,                                                 \
		 PARTS " that did not come to the end in some run",                      \
		 FAB_COL_EXTRA | FAB_COL_BAD_IF_ANY,                                     \
		 FAB_AT(struct fab_cli_job, unfinished)},

/* The row of job[k] with its times, of which `unit` are a printed one. O(1). */
struct fab_cli_job fab_cli_job_row(const char *by, const struct fab_job *job,
				   const struct fab_job_times *times, uint32_t k,
				   double unit);
/* Add another run of a job to its row, which is zeroed before the first. O(1). */
void fab_cli_job_add(struct fab_cli_job *to, const struct fab_cli_job *run);
/* Sentences on the n jobs of one algorithm or scheme; text_of: a printed time with its
 * unit. O(n). */
void fab_cli_say_jobs(struct fab_report *r, struct fab_arena *arena,
		      const struct fab_cli_job *x, size_t n, bool has_load,
		      const char *(*text_of)(void *context, double time), void *context);
