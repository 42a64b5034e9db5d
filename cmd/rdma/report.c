/* SPDX-License-Identifier: BSD-2-Clause */
/* The report of fabric-rdma run, sweep and figure. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "export/fabrics.h"
#include "fabric_rdma.h"

/* One number of the document. */
static void put(struct fab_report *r, const char *name, double value)
{
	const struct fab_column column = {name, FAB_NUMBER, "", FAB_COL_EXTRA};

	fab_report_field(r, &column, (union fab_cell){.real = value});
}

void rdma_print_parameters(struct fab_report *r, const struct rdma_params *p,
			   const struct rdma_network *n)
{
	const struct fab_rdma_params *s = &p->sim;

	fab_report_text(r, "pattern", p->pattern);
	fab_report_text(r, "op", p->op ? "read" : "write");
	fab_report_text(r, "route", n->route->name);
	fab_report_text(r, "algorithm", n->algorithm);
	put(r, "parameters.size", (double)p->bytes);
	put(r, "parameters.mtu", s->mtu);
	put(r, "parameters.window", s->window);
	put(r, "parameters.sender_window", s->sender_window);
	put(r, "parameters.rto_us", (double)s->rto_ps / 1e6);
	put(r, "parameters.header", s->header);
	put(r, "parameters.control", s->control);
	put(r, "parameters.rate_gbps", s->rate_gbps);
	put(r, "parameters.unknown_rates", n->n_unknown_rates);
	put(r, "parameters.switch_delay_ns", (double)s->switch_ps / 1000);
	put(r, "parameters.cable_delay_ns", (double)s->cable_ps / 1000);
	put(r, "parameters.host_delay_ns", (double)s->host_ps / 1000);
	put(r, "parameters.contexts", s->contexts);
	put(r, "parameters.singles", s->singles);
	put(r, "parameters.gap_nak", p->gap == RDMA_GAP_ADAPTS ? NAN : p->gap);
	put(r, "parameters.credit", p->credit ? fab_rdma_credit_packets(s) : 0);
	put(r, "parameters.timers", p->timers);
	put(r, "parameters.rto_low_us", (double)s->rto_low_ps / 1e6);
	put(r, "parameters.rto_high_us", (double)s->rto_high_ps / 1e6);
	put(r, "parameters.nacks", s->nacks ? s->nacks : NAN);
	put(r, "parameters.reorder_us",
	    s->reorder_ps ? (double)s->reorder_ps / 1e6 : NAN);
	put(r, "parameters.runs", p->runs ? p->runs : NAN);
	put(r, "parameters.seed", (double)p->run.seed);
}

void rdma_print_no_path(struct fab_report *r, uint32_t n)
{
	static const struct fab_column field = {"no_path", FAB_UINT, "", FAB_COL_EXTRA};

	fab_report_field(r, &field, (union fab_cell){.u = n});
}

static double us_or_none(uint64_t ps)
{
	return ps ? (double)ps / 1e6 : (double)NAN;
}

/* Of a run of the first point. */
static void print_transfers(struct fab_report *r, const struct rdma_outcome *o)
{
	fab_report_uint(r, "transfers", o->n_transfers);
	rdma_print_no_path(r, o->n_no_path);
	fab_report_uint(r, "packets", o->n_packets);
	put(r, "base_round_trip_us", us_or_none(o->round_trip_ps));
	put(r, "ideal_us", us_or_none(o->ideal_ps));
	if (o->n_left_out)
		fab_report_uint(r, "left_out", o->n_left_out);
	if (o->n_priorities)
		fab_report_uint(r, "priorities_left_out", o->n_priorities);
	if (o->results.n)
		fab_report_text(r, "no_deadlock", o->results.v[0].sum.no_deadlock);
}

/* What the figures leave out or take for given, for who reads no manual. */
static void print_approximations(struct fab_report *r, const struct rdma_params *p)
{
	static const struct fab_column field = {"approximations", FAB_TEXT, "",
						FAB_COL_EXTRA};
	char *text =
		fab_strdup("no congestion control, no host bus, no cache of contexts");

	if (!p->sim.buffer)
		fab_append(&text, "; ", "queues without bounds");
	if (!p->sim.no_handshake)
		fab_append(&text, "; ",
			   "all schemes ask for a context first, gbn and irn too");
	if (p->sim.bad.per_hop && p->sim.bad.burst > 1)
		fab_append(&text, "; ", "bursts of a cable differ between schemes");
	if (fab_rdma_pattern_is_drawn(p->pattern))
		fab_append(&text, "; ",
			   "one permutation, drawn by the seed, for all runs");
	fab_report_field(r, &field, (union fab_cell){.text = text});
	free(text);
}

static void print_interrupt(struct fab_report *r, const struct rdma_outcome *o)
{
	static const struct fab_column field = {"interrupted", FAB_BOOL, "",
						FAB_COL_EXTRA};

	fab_report_field(r, &field, (union fab_cell){.u = o->was_interrupted});
	if (!o->was_interrupted)
		return;
	fab_report_uint(r, "points", o->n_done);
	fab_report_uint(r, "all_points", o->n_items);
}

/* The choice of a run, for programs. */
static void print_choice(struct fab_report *r, const struct rdma_outcome *o)
{
	static const struct fab_column verdict = {"verdict", FAB_TEXT, "", FAB_COL_EXTRA};
	static const struct fab_column take = {"take", FAB_TEXT, "", FAB_COL_EXTRA};
	const struct rdma_point *x = &o->point[0];
	bool is_taken = x->choice.verdict == FAB_RDMA_TAKE;

	if (o->n_points > 1 || !x->is_there)
		return;
	fab_report_field(
		r, &verdict,
		(union fab_cell){.text = fab_rdma_verdict_name[x->choice.verdict]});
	fab_report_field(
		r, &take,
		(union fab_cell){.text = is_taken ? o->scheme[x->choice.best]->name
						  : NULL});
}

struct record {
	const char *claim, *verdict, *shown;
	double value, low, high;
};
static const struct fab_column claim_columns[] = {
	FAB_COLUMN(claim, TEXT, "what the paper says"),
	FAB_COLUMN(verdict, TEXT, "reproduced, refuted, or what it needs"),
	FAB_COLUMN(shown, TEXT, "by what"),
	FAB_COLUMN_AS(value, REAL, "the number that decides", FAB_COL_EXTRA),
	FAB_COLUMN_AS(low, REAL, "it must be at least this; null: no bound",
		      FAB_COL_EXTRA),
	FAB_COLUMN_AS(high, REAL, "and at most this", FAB_COL_EXTRA),
};

static void print_claims(struct fab_report *r, const struct rdma_outcome *o)
{
	struct rdma_claim claims[RDMA_MAX_CLAIMS];
	size_t n = rdma_claims(o, claims);

	fab_report_table_begin(r, "claims", "What the paper claims", claim_columns,
			       FAB_COUNT(claim_columns));
	for (size_t i = 0; i < n; i++) {
		const struct record record = {claims[i].claim, claims[i].verdict,
					      claims[i].shown, claims[i].value,
					      claims[i].low,   claims[i].high};

		fab_report_record(r, &record);
		free((char *)(uintptr_t)claims[i].shown);
	}
	fab_report_table_end(r);
}

int rdma_report(FILE *out, const struct fab_report_options *options,
		const struct rdma_outcome *o, struct fab_err *err)
{
	struct fab_report *r =
		fab_cli_begin_report(out, options, "fabric-rdma", "results", o->net.f);
	static const char *const verbs[] = {"run", "sweep", "figure"};

	rdma_answer(r, o);
	fab_report_text(r, "verb", verbs[o->p->verb]);
	if (o->p->figure)
		fab_report_uint(r, "figure", o->p->figure);
	fab_cli_report_shard(r, &o->p->shard);
	print_choice(r, o);
	rdma_print_parameters(r, o->p, &o->net);
	print_transfers(r, o);
	print_approximations(r, o->p);
	print_interrupt(r, o);
	if (o->p->figure && !o->was_interrupted && !o->p->shard.part.count)
		print_claims(r, o);
	fab_report_table_begin(r, "results", "Schemes", rdma_columns, rdma_n_columns);
	for (size_t i = 0; i < o->results.n; i++) {
		struct rdma_row row;

		rdma_row_init(&row, o, &o->results.v[i]);
		fab_report_record(r, &row);
	}
	fab_report_table_end(r);
	return fab_report_finish(r, err);
}

/* One line a bucket that holds anything. */
static void write_histogram(FILE *out, const struct rdma_outcome *o,
			    const struct rdma_result *r, const char *what,
			    const struct fab_histogram *h)
{
	uint64_t from = 0;

	for (unsigned b = 0; b < FAB_HISTOGRAM_BUCKETS; b++) {
		uint64_t top = fab_histogram_top(b);

		if (h->count[b])
			fprintf(out,
				"{\"scheme\": \"%s\", \"point\": %zu, \"what\": \"%s\", "
				"\"from\": %llu, \"to\": %llu, \"packets\": %llu}\n",
				r->scheme->name, (size_t)(r->point - o->point), what,
				(unsigned long long)from, (unsigned long long)top,
				(unsigned long long)h->count[b]);
		from = top + 1;
	}
}

int rdma_write_histogram(FILE *out, const struct rdma_outcome *o, struct fab_err *err)
{
	(void)err;
	for (size_t i = 0; i < o->results.n; i++) {
		const struct rdma_result *r = &o->results.v[i];

		write_histogram(out, o, r, "reorder_degree", &r->sum.reorder);
		write_histogram(out, o, r, "ahead", &r->sum.ahead);
	}
	return 0;
}
