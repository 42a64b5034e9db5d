/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-launch calibrate: constants measured on this machine, into a file. */
#include "launch/calibrate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "launch.h"
#include "launch/locks.h"

static const uint32_t readers[] = {1, 2, 8, 32};

struct outcome {
	struct fab_calibration c;
	FAB_VEC(struct launch_calibrate_row) rows;
	struct launch_store_row locks[FAB_N_LOCKS * FAB_COUNT(readers)];
	size_t n_locks;
};

static int measure(const struct launch_params *p, struct outcome *o, struct fab_err *err)
{
	int rc;

	o->c.params = p->constants;
	rc = fab_calibrate(p->measure_s, fab_cli_tmp_dir(), &o->c, err);
	for (uint32_t lock = 0; lock < FAB_N_LOCKS && !rc; lock++)
		for (size_t i = 0; i < FAB_COUNT(readers) && !rc; i++) {
			struct launch_store_row *row = &o->locks[o->n_locks++];

			*row = (struct launch_store_row){.lock = fab_locks.at(lock).form,
							 .ppn = readers[i]};
			rc = launch_measure_lock(lock, readers[i], p->measure_s, row,
						 err);
		}
	for (size_t i = 0; i < FAB_N_LAUNCH_CONSTANTS && !rc; i++)
		if (o->c.is_measured[i]) {
			const struct fab_launch_value *v = &o->c.params.of[i];

			FAB_PUSH(&o->rows,
				 ((struct launch_calibrate_row){
					 .constant = fab_launch_constants.at(i).form,
					 .unit = fab_launch_constant_unit(i),
					 .source = v->source,
					 .value = v->value,
					 .spread = v->spread,
					 .before = p->constants.of[i].value}));
		}
	return rc;
}

static void print_locks(struct fab_report *r, const struct outcome *o)
{
#define AT(member) FAB_AT(struct launch_store_row, member)
	static const struct fab_column columns[] = {
		{"lock", FAB_TEXT, "rwlock, 2n, mutex-flag or pointer", 0, AT(lock)},
		{"readers", FAB_UINT, "threads that read", 0, AT(ppn)},
		{"measured_read_ns", FAB_REAL, "processor time of a read, ns", 0,
		 AT(measured_read_ns)},
		{"measured_wait_us", FAB_REAL,
		 "mean wait of a writer, one each ms, us; null: it never came to it", 0,
		 AT(measured_wait_us)},
		{"measured_longest_us", FAB_REAL, "its longest, us", 0,
		 AT(measured_longest_us)},
		{"measured_writes", FAB_NUMBER, "writes", 0, AT(measured_writes)},
	};
#undef AT

	fab_report_table(r, "locks", "Locks in shared memory", columns,
			 FAB_COUNT(columns), o->locks, sizeof(*o->locks), o->n_locks);
}

static void print(struct fab_report *r, const struct launch_params *p, const void *of,
		  enum fab_format format)
{
	static const struct fab_column steal = {"steal_percent", FAB_REAL, "", 0};
	const struct outcome *o = of;
	const struct fab_launch_params *c = &o->c.params;
	char text[48] = "unknown steal";

	(void)format;
	if (!isnan(c->steal_percent))
		snprintf(text, sizeof(text), "%.1f %% steal", c->steal_percent);
	fab_report_answer(r, FAB_TONE_PLAIN,
			  "%zu constants were measured on %u cores with %s%s%s.",
			  o->rows.n, c->cores, text,
			  p->params_out ? "; they are in "
					: ", and kept nowhere "
					  "(--params-out=FILE)",
			  p->params_out ? p->params_out : "");
	if (*o->c.libpmix)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "PMIx_Init, Put, Commit, Fence and Get were measured "
				  "through libpmix %s, the rest by built-in loops.",
				  o->c.libpmix);
	else
		fab_report_answer(r, FAB_TONE_WARN,
				  "Built-in loops alone were measured, libpmix was not: "
				  "%s.",
				  o->c.pmix_problem);
	fab_report_answer(r, FAB_TONE_PLAIN,
			  "The other %zu constants keep the values that they had.",
			  (size_t)FAB_N_LAUNCH_CONSTANTS - o->rows.n);
	if (c->cores < LAUNCH_CORES_TO_SCALE)
		fab_report_answer(r, FAB_TONE_WARN,
				  "%u cores are too few to say anything of how locks or "
				  "fences scale.",
				  c->cores);
	fab_report_text(r, "host", c->host);
	fab_report_uint(r, "cores", c->cores);
	fab_report_field(r, &steal, (union fab_cell){.real = c->steal_percent});
	fab_report_text(r, "date", c->date);
	fab_report_text(r, "libpmix", *o->c.libpmix ? o->c.libpmix : NULL);
	fab_report_text(r, "libpmix_problem", *o->c.libpmix ? NULL : o->c.pmix_problem);
	fab_report_table(r, "results", "Constants", launch_calibrate_columns,
			 launch_calibrate_n_columns, o->rows.v, sizeof(*o->rows.v),
			 o->rows.n);
	print_locks(r, o);
}

static void keep(struct fab_draft *d, const struct launch_params *p, const void *of)
{
	const struct outcome *o = of;

	(void)p;
	fab_draft_table(d, launch_calibrate_columns, launch_calibrate_n_columns);
	fab_draft_asked(d, "verb", fab_strdup("calibrate"));
	fab_draft_fact(d, "cores", o->c.params.cores);
	d->run.fabric.source = "none";
	for (size_t i = 0; i < o->rows.n; i++)
		fab_draft_result(d, o->rows.v[i].constant, launch_calibrate_columns,
				 launch_calibrate_n_columns, &o->rows.v[i]);
}

static int run(struct launch_params *p, const struct fab_fabric *f, struct fab_err *err)
{
	struct outcome *o = FAB_NEW0(1, struct outcome);
	struct launch_result result = {"results", print, keep, o};
	struct fab_cli_results files = {.n = 0};
	int rc = measure(p, o, err);

	if (!rc && p->params_out)
		fab_launch_params_write(fab_cli_open_result(&files, p->params_out),
					&o->c.params, o->c.is_measured);
	if (!rc)
		rc = launch_finish(p, f, &result, &files, err);
	free(o->rows.v);
	free(o);
	return rc;
}

const struct launch_work launch_calibrate = {launch_calibrate_columns,
					     &launch_calibrate_n_columns, run};
