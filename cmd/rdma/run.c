/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-rdma run, sweep, figure: from options to the report. */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "fabric_rdma.h"

struct keeping {
	struct rdma_params *p;
	const struct rdma_outcome *o;
};

static int keep(void *context, struct fab_err *err)
{
	const struct keeping *k = context;

	return k->o->was_interrupted ? 0 : rdma_store(k->p, k->o, err);
}

/* What a table shows unless --columns says so: where the point is, and what matters. On
 * the heap. */
static char *columns_of(const struct rdma_params *p)
{
	static const char *const names[RDMA_AXES] = {
		[RDMA_LOSS] = "loss",	    [RDMA_DROP_CONTROL] = "drop_control",
		[RDMA_DELAYED] = "delayed", [RDMA_DELAY_NS] = "delay_us",
		[RDMA_SIZE] = "size",	    [RDMA_MTU] = "mtu",
		[RDMA_WINDOW] = "window",   [RDMA_SENDER_WINDOW] = "sender_window",
		[RDMA_RTO_NS] = "rto_us",   [RDMA_CONTEXTS] = "contexts_limit"};
	char *text = NULL;

	for (size_t a = 0; a < p->axes.n; a++)
		fab_append(&text, ",", "%s", names[p->axes.v[a].axis]);
	fab_append(&text, ",",
		   "scheme,completion_us.mean,completion_us.p99,"
		   "ratio_to_oracle,rounds,hung%s",
		   p->axes.n ? "" : ",context_bits");
	return text;
}

/* The last result: with it all of them are committed. */
static int print_report(struct rdma_params *p, const struct rdma_outcome *o,
			struct fab_cli_results *results, struct fab_err *err)
{
	struct keeping keeping = {p, o};
	struct fab_report_options report;
	FILE *file = fab_cli_open_report(results, &p->output, &report);
	char *columns = NULL;
	int rc;

	if (!report.columns && report.format == FAB_FORMAT_TABLE)
		report.columns = columns = columns_of(p);
	rc = rdma_report(file, &report, o, err);
	free(columns);
	return fab_cli_finish_results(results, rc, keep, &keeping, err);
}

static int write_files(const struct rdma_params *p, const struct rdma_outcome *o,
		       struct fab_cli_results *results, struct fab_err *err)
{
	int rc = 0;

	if (p->histogram_out)
		rc = rdma_write_histogram(fab_cli_open_result(results, p->histogram_out),
					  o, err);
	if (!rc && p->plot.path)
		rdma_plot(&p->plot, o, results);
	return rc;
}

static int status_of(const struct rdma_params *p, const struct rdma_outcome *o)
{
	for (size_t i = 0; p->check && i < o->results.n; i++) {
		const struct fab_rdma_summary *s = &o->results.v[i].sum;

		if (s->n_hung || s->n_wrong || s->n_no_path)
			return FAB_EXIT_FOUND;
	}
	return FAB_EXIT_DONE;
}

static void choose_schemes(const struct rdma_params *p, struct rdma_outcome *o)
{
	for (size_t i = 0; i < p->schemes.of.n; i++)
		o->scheme[o->n_schemes++] = fab_rdma_schemes[p->schemes.of.v[i].row];
}

static int work(struct rdma_params *p, const struct fab_fabric *f, struct rdma_outcome *o,
		struct fab_err *err)
{
	struct fab_cli_results results = {.n = 0};
	double start = fab_now();
	int rc = rdma_set_up(p, f, &o->net, err);

	choose_schemes(p, o);
	if (!rc)
		rc = rdma_make_points(p, o, err);
	if (rc)
		return rc;
	fab_cli_note_faults(&p->shard, o->net.dead);
	p->store.shard = &p->shard;
	rc = rdma_simulate(p, o, err);
	o->total_seconds = fab_now() - start;
	if (o->was_interrupted && !o->results.n)
		return fab_fail(err, EINTR, "interrupted before anything was simulated");
	if (!rc)
		rc = write_files(p, o, &results, err);
	if (!rc)
		rc = print_report(p, o, &results, err);
	return rc ? rc : status_of(p, o);
}

int rdma_run(struct rdma_params *p, const struct fab_fabric *f, struct fab_err *err)
{
	struct rdma_outcome *o = FAB_NEW0(1, struct rdma_outcome);
	int status;

	o->p = p;
	status = work(p, f, o, err);
	rdma_outcome_fini(o);
	free(o);
	return status;
}
