/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-launch store: what a Get from a node's store costs, by lock. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/human.h"
#include "launch.h"
#include "launch/calibrate.h"
#include "launch/locks.h"
#include "launch/range.h"

enum { DEFAULT_PPN = 168 };

static const enum fab_launch_constant constants[] = {
	FAB_CONST_lock_ns, FAB_CONST_line_ns, FAB_CONST_read_ns, FAB_CONST_shift_us};

struct outcome {
	struct fab_launch_range read; /* seconds of a read under a reader-writer lock */
	uint32_t ppn;
	double steal_percent; /* while it was measured; NaN: not known */
	FAB_VEC(struct launch_store_row) rows;
};

int launch_measure_lock(uint32_t lock, uint32_t readers, double seconds,
			struct launch_store_row *row, struct fab_err *err)
{
	struct fab_lock_loop loop = {lock, readers, seconds, false};
	struct fab_lock_times times;
	int rc = fab_lock_measure(&loop, &times, err);

	if (rc)
		return rc;
	row->measured_read_ns = times.read_ns;
	loop.has_writer = true;
	rc = fab_lock_measure(&loop, &times, err);
	if (rc)
		return rc;
	row->measured_wait_us = times.wait_us;
	row->measured_longest_us = times.longest_us;
	row->measured_writes = (double)times.writes;
	return times.torn ? fab_fail(err, EPROTO,
				     "%s: %" PRIu64 " reads saw half of a write",
				     fab_locks.at(lock).form, times.torn)
			  : 0;
}

static int add_row(const struct launch_params *p, struct outcome *o, uint32_t lock,
		   uint32_t ppn, struct fab_err *err)
{
	struct fab_lock_model m = fab_lock_model(lock, ppn, &p->constants);
	struct launch_store_row row = {
		.lock = fab_locks.at(lock).form,
		.ppn = ppn,
		.read_ns = m.read_ns,
		.get_us = m.read_ns / 1e3,
		.shifted_get_us = m.read_ns / 1e3 + FAB_PARAM(&p->constants, shift_us),
		.write_us = m.write_ns / 1e3,
		.measured_read_ns = (double)NAN,
		.measured_wait_us = (double)NAN,
		.measured_longest_us = (double)NAN,
		.measured_writes = (double)NAN};
	int rc = 0;

	if (p->is_measuring && ppn <= FAB_LOCK_READERS_MAX)
		rc = launch_measure_lock(lock, ppn, p->measure_s, &row, err);
	if (!rc)
		FAB_PUSH(&o->rows, row);
	return rc;
}

/* Seconds of a read under a reader-writer lock. */
static int read_of(void *context, const struct fab_launch_params *params, double *out,
		   struct fab_err *err)
{
	const struct outcome *o = context;

	(void)err;
	*out = fab_lock_model(FAB_LOCK_RWLOCK, o->ppn, params).read_ns / 1e9;
	return 0;
}

static void answer(struct fab_report *r, const struct launch_params *p,
		   const struct outcome *o)
{
	struct fab_lock_model rw = fab_lock_model(FAB_LOCK_RWLOCK, o->ppn, &p->constants);
	struct fab_lock_model two = fab_lock_model(FAB_LOCK_2N, o->ppn, &p->constants);
	double shift_ns = FAB_PARAM(&p->constants, shift_us) * 1e3;
	char a[FAB_HUMAN_BYTES], b[FAB_HUMAN_BYTES];

	fab_human_seconds(rw.read_ns / 1e9, a);
	fab_human_seconds(two.read_ns / 1e9, b);
	fab_report_answer(
		r, FAB_TONE_PLAIN,
		"By the model, which is no measurement, a read among %u processes "
		"takes %s under a reader-writer lock and %s with 2N locks.",
		o->ppn, a, b);
	launch_answer_range(r, p, "The first", &o->read);
	fab_report_answer(
		r, FAB_TONE_PLAIN,
		"2N locks and a thread shift after the read are two changes: "
		"together a factor of %.0f by the model (the locks alone %.3g, the "
		"shift alone %.3g); published is up to 66 at 168.",
		(rw.read_ns + shift_ns) / two.read_ns,
		(rw.read_ns + shift_ns) / (two.read_ns + shift_ns),
		(rw.read_ns + shift_ns) / rw.read_ns);
	if (!p->is_measuring)
		return;
	if (isnan(o->steal_percent))
		snprintf(a, sizeof(a), "an unknown steal");
	else
		snprintf(a, sizeof(a), "%.1f %% steal", o->steal_percent);
	fab_report_answer(
		r, fab_cores() < LAUNCH_CORES_TO_SCALE ? FAB_TONE_WARN : FAB_TONE_PLAIN,
		"Measured on %u cores with %s%s.", fab_cores(), a,
		fab_cores() < LAUNCH_CORES_TO_SCALE
			? ": too few to say anything of how locks scale"
			: "");
}

static void print(struct fab_report *r, const struct launch_params *p, const void *of,
		  enum fab_format format)
{
	static const struct fab_column steal = {"steal_percent", FAB_REAL, "", 0};
	const struct outcome *o = of;

	(void)format;
	answer(r, p, o);
	launch_print_range(r, &o->read);
	fab_report_uint(r, "cores", fab_cores());
	fab_report_field(r, &steal, (union fab_cell){.real = o->steal_percent});
	fab_report_table(r, "results", "Locks", launch_store_columns,
			 launch_store_n_columns, o->rows.v, sizeof(*o->rows.v),
			 o->rows.n);
	launch_print_constants(r, p);
}

static void keep(struct fab_draft *d, const struct launch_params *p, const void *of)
{
	const struct outcome *o = of;

	(void)p;
	fab_draft_table(d, launch_store_columns, launch_store_n_columns);
	fab_draft_asked(d, "verb", fab_strdup("store"));
	d->run.fabric.source = "none";
	for (size_t i = 0; i < o->rows.n; i++) {
		char *name = fab_format("%s/%u", o->rows.v[i].lock, o->rows.v[i].ppn);

		fab_draft_result(d, name, launch_store_columns, launch_store_n_columns,
				 &o->rows.v[i]);
		free(name);
	}
}

static int compute(const struct launch_params *p, struct outcome *o, struct fab_err *err)
{
	struct fab_steal before = fab_steal_read();
	int rc = 0;

	o->ppn = p->has_ppn ? p->ppn : DEFAULT_PPN;
	for (size_t i = 0; i < p->locks.of.n; i++)
		for (uint32_t n = 1, last = 0; !last && !rc; n *= 2) {
			last = n >= o->ppn;
			rc = add_row(p, o, p->locks.of.v[i].row, last ? o->ppn : n, err);
		}
	o->steal_percent = p->is_measuring ? fab_steal_percent(before) : (double)NAN;
	return rc;
}

static int run(struct launch_params *p, const struct fab_fabric *f, struct fab_err *err)
{
	struct outcome o = {.ppn = 0};
	struct launch_result result = {"results", print, keep, &o};
	int rc;

	launch_use_constants(p, constants, FAB_COUNT(constants));
	rc = compute(p, &o, err);
	if (!rc)
		rc = fab_launch_range_find(
			&p->constants, p->uses,
			fab_lock_model(FAB_LOCK_RWLOCK, o.ppn, &p->constants).read_ns /
				1e9,
			read_of, &o, &o.read, err);
	if (!rc)
		rc = launch_finish(p, f, &result, NULL, err);
	free(o.rows.v);
	return rc;
}

const struct launch_work launch_store = {launch_store_columns, &launch_store_n_columns,
					 run};
