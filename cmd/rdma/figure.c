/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabric-rdma figure: figures 4 to 7 of the paper (Wang et al. 2015), as far as their
 * circumstances are told, and what of its claims comes out. What is not told (MTU,
 * timeout, window of SSW, delays) is set here, and printed.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fabric_rdma.h"

static const double KIB = 1024;
#define ADD(p, axis, ...)                                                                \
	rdma_add_axis(p, axis, (const double[]){__VA_ARGS__},                            \
		      FAB_COUNT(((const double[]){__VA_ARGS__})))

static void set_schemes(struct rdma_params *p, const char *list)
{
	/* names of the table: no mistake but one in this file */
	if (!p->has_schemes &&
	    fab_choices_parse(&fab_rdma_scheme_choices, list, &p->schemes, NULL))
		assert(!"schemes");
}

/* Packets that are held up, unless the command line says which. */
static void set_delay(struct rdma_params *p, double share, uint64_t ps)
{
	if (p->has_delay)
		return;
	p->sim.bad.delayed = share;
	p->sim.bad.delay = FAB_RDMA_UNIFORM;
	p->sim.bad.delay_ps = ps;
}

static void set_sizes(struct rdma_params *p)
{
	if (!p->has_bytes)
		ADD(p, RDMA_SIZE, 32 * KIB, 64 * KIB, 128 * KIB, 256 * KIB);
}

/* Two sizes of packets, one for which the transfer fits into the window; few of them in
 * the buffer of ssw. */
static void set_mtus(struct rdma_params *p)
{
	if (!p->has_sender_window)
		p->sender_window = 32;
	p->has_sender_window = true;
	if (!p->has_mtu)
		ADD(p, RDMA_MTU, 512, 2048);
}

void rdma_set_figure(struct rdma_params *p)
{
	if (!p->has_runs)
		p->runs = 50;
	if (!p->has_route && !p->tables.lfts && !p->has_algorithm) {
		p->route = fab_choices_find(&fab_rdma_route_choices, "adaptive", 8);
		p->has_route = true;
	}
	set_delay(p, p->figure == 7 ? 0.1 : 1, p->figure == 7 ? 2700000 : 300000);
	if (p->figure == 4) {
		set_schemes(p, "rsw,ssw,rc,gbn");
		if (!p->has_mtu)
			p->mtu = 512;
		if (!p->has_sender_window)
			ADD(p, RDMA_SENDER_WINDOW, 4, 8, 16, 32, 64, 128);
		set_sizes(p);
	} else if (p->figure == 5) {
		set_schemes(p, "rsw,rsw+,ssw,rc,irn");
		if (!p->has_loss)
			ADD(p, RDMA_LOSS, 2e-3);
		set_mtus(p);
		set_sizes(p);
	} else if (p->figure == 6) {
		set_schemes(p, "rsw,rsw+,ssw,rc,irn");
		set_mtus(p);
		if (!p->has_loss)
			ADD(p, RDMA_LOSS, 0, 1e-3, 2e-3, 3e-3, 4e-3, 5e-3);
	} else {
		set_schemes(p, "rsw,rsw+");
		if (!p->has_mtu)
			p->mtu = 512;
		if (!p->has_delay)
			ADD(p, RDMA_DELAYED, 0.03, 0.1, 0.3);
		if (!p->has_window)
			ADD(p, RDMA_WINDOW, 16, 32, 64, 128, 256);
	}
}

/* A value that a point must have; up to the one with axis RDMA_AXES. */
struct at {
	enum rdma_axis axis;
	double value;
};
#define AT(...) ((const struct at[]){__VA_ARGS__, {RDMA_AXES, 0}})

static bool is_at(const struct rdma_point *x, const struct at *at)
{
	for (; at->axis < RDMA_AXES; at++)
		if (fabs(x->at[at->axis] - at->value) > 1e-9 * fabs(at->value))
			return false;
	return true;
}

/* The last point that has these values; NULL: none. */
static const struct rdma_result *find(const struct rdma_outcome *o, const char *scheme,
				      const struct at *at)
{
	const struct rdma_result *found = NULL;

	for (size_t i = 0; i < o->results.n; i++)
		if (!strcmp(o->results.v[i].scheme->name, scheme) &&
		    is_at(o->results.v[i].point, at))
			found = &o->results.v[i];
	return found;
}

/* Mean completion time there, us; NaN: not there. */
static double time_of(const struct rdma_outcome *o, const char *scheme,
		      const struct at *at)
{
	const struct rdma_result *r = find(o, scheme, at);

	return r ? rdma_mean(r) : (double)NAN;
}

struct list {
	struct rdma_claim *out;
	size_t n;
};

/* A claim that holds when low <= value <= high; what is not known is said to be so: NaN
 * where the points are there says that luck decides. */
static void add(struct list *l, const char *claim, bool is_there, double value,
		double low, double high, const char *holds, const char *fails,
		char *shown)
{
	bool is_known = is_there && !isnan(value);
	bool is_held = is_known && !(value < low) && !(value > high);

	if (l->n == RDMA_MAX_CLAIMS) {
		free(shown);
		return;
	}
	l->out[l->n++] = (struct rdma_claim){
		.claim = claim,
		.verdict = !is_there   ? "not looked at: other options"
			   : !is_known ? "undecided: more --runs"
			   : is_held   ? holds
				       : fails,
		.shown = is_there ? shown : fab_strdup("such points were not simulated"),
		.value = value,
		.low = low,
		.high = high};
	if (!is_there)
		free(shown);
}

/* Packets of 512 bytes that a round trip of the first point carries. */
static double bandwidth_delay(const struct rdma_outcome *o)
{
	return (double)o->round_trip_ps / 1000 * o->p->sim.rate_gbps / 8 / o->p->mtu;
}

static void claim_figure_4(const struct rdma_outcome *o, struct list *l)
{
	const struct at *below = AT({RDMA_SENDER_WINDOW, 8}, {RDMA_SIZE, 256 * KIB});
	const struct at *above = AT({RDMA_SENDER_WINDOW, 128}, {RDMA_SIZE, 256 * KIB});
	double ssw_8 = time_of(o, "ssw", below), rsw_8 = time_of(o, "rsw", below);
	double ssw = time_of(o, "ssw", above), rsw = time_of(o, "rsw", above);
	double rc = time_of(o, "rc", above), bdp = bandwidth_delay(o);

	add(l, "Without loss SSW is the slowest", !isnan(ssw + rsw + ssw_8 + rsw_8),
	    ssw / rsw, 1.05, INFINITY, "reproduced",
	    ssw_8 > 1.05 * rsw_8
		    ? "needs a sender window below the bandwidth-delay product"
		    : "refuted",
	    fab_format("ssw / rsw %.3g with 8 packets in flight, %.3g with 128; a "
		       "round trip carries %.0f",
		       ssw_8 / rsw_8, ssw / rsw, bdp));
	add(l, "Without loss RSW is about as fast as RC", !isnan(rsw + rc), rsw / rc, 0.9,
	    1.1, "reproduced", "refuted", fab_format("rsw %.4g us, rc %.4g us", rsw, rc));
}

/* Is the first scheme faster, run by run under the same luck? 1: yes, -1: no, 0: the 95 %
 * interval of the difference holds 0. */
static int is_faster(const struct rdma_result *a, const struct rdma_result *b)
{
	struct fab_tally differences = {0};
	struct fab_interval i;

	for (uint32_t r = 0; r < a->sum.n_runs; r++) {
		double d = b->sum.run[r].completion_mean - a->sum.run[r].completion_mean;

		if (!isnan(d))
			fab_tally_add(&differences, d);
	}
	i = fab_tally_interval(&differences, FAB_ALPHA);
	return i.low > 0 ? 1 : i.high < 0 ? -1 : 0;
}

/* Is rsw faster than ssw and ssw than rc? NaN: not known. */
static double order_at(const struct rdma_outcome *o, const struct at *at)
{
	const struct rdma_result *rsw = find(o, "rsw", at), *ssw = find(o, "ssw", at);
	const struct rdma_result *rc = find(o, "rc", at);
	int first, second;

	if (!rsw || !ssw || !rc)
		return NAN;
	first = is_faster(rsw, ssw);
	second = is_faster(ssw, rc);
	if (first < 0 || second < 0)
		return 0;
	return first && second ? 1 : (double)NAN;
}

static void claim_order(const struct rdma_outcome *o, struct list *l, const char *claim,
			double mtu, double loss)
{
	const struct at *at =
		AT({RDMA_MTU, mtu}, {RDMA_LOSS, loss}, {RDMA_SIZE, 256 * KIB});
	double rsw = time_of(o, "rsw", at), ssw = time_of(o, "ssw", at);
	double rc = time_of(o, "rc", at);

	add(l, claim, !isnan(rsw + ssw + rc), order_at(o, at), 1, 1, "reproduced",
	    "refuted",
	    fab_format("rsw %.4g us, ssw (%u packets in flight) %.4g us, rc %.4g us", rsw,
		       o->p->sim.sender_window, ssw, rc));
}

static void claim_cure(const struct rdma_outcome *o, struct list *l)
{
	const struct at *at =
		AT({RDMA_MTU, 512}, {RDMA_LOSS, 5e-3}, {RDMA_SIZE, 256 * KIB});
	const struct rdma_result *r = find(o, "rsw", at);
	double rsw = time_of(o, "rsw", at), plus = time_of(o, "rsw+", at);

	add(l, "(ours) gap NAK, credit and timers cure that", !isnan(rsw + plus),
	    rsw / plus, 10, INFINITY, "reproduced", "refuted",
	    fab_format("rsw %.4g us and %.3g times the packets, rsw+ %.4g us: %.3g times "
		       "as fast",
		       rsw, r ? fab_tally_mean(&r->sum.rounds) : (double)NAN, plus,
		       rsw / plus));
}

static void claim_4096(const struct rdma_outcome *o, struct list *l)
{
	const struct rdma_result *rc = find(
		o, "rc", AT({RDMA_MTU, 512}, {RDMA_LOSS, 5e-3}, {RDMA_SIZE, 256 * KIB}));
	double rounds = pow(1 - 5e-3, -4096);

	add(l, "256 K is 4096 packets", true, rounds, 0, 1000, "reproduced",
	    "refuted: it cannot be the experiment",
	    rc ? fab_format("RC would send it (1-p)^-N = %.2g times; with 512 packets "
			    "13.02 times, simulated %.4g",
			    rounds, fab_tally_mean(&rc->sum.rounds))
	       : fab_format("RC would send it (1-p)^-N = %.2g times", rounds));
}

static void claim_share(const struct rdma_outcome *o, struct list *l, const char *claim,
			double window, double low, double high)
{
	const struct at *at = AT({RDMA_WINDOW, window}, {RDMA_DELAYED, 0.1});
	const struct rdma_result *r = find(o, "rsw", at);
	double share = r ? r->ideal_us / rdma_mean(r) : (double)NAN;

	add(l, claim, r, share, low, high, "reproduced with 10 % of packets held up",
	    share < low ? "needs a shorter round trip" : "refuted",
	    fab_format("%.3g of what it is in order, reorder degree %.0f, round trip "
		       "%.3g us",
		       share, r ? (double)r->sum.reorder.max : (double)NAN,
		       (double)o->round_trip_ps / 1e6));
}

static void claim_figure_7(const struct rdma_outcome *o, struct list *l)
{
	const struct rdma_result *few =
		find(o, "rsw", AT({RDMA_WINDOW, 32}, {RDMA_DELAYED, 0.03}));
	const struct rdma_result *many =
		find(o, "rsw", AT({RDMA_WINDOW, 32}, {RDMA_DELAYED, 0.3}));
	double a = few ? few->ideal_us / rdma_mean(few) : (double)NAN;
	double b = many ? many->ideal_us / rdma_mean(many) : (double)NAN;

	claim_share(o, l, "At degree 64 a window of 32 gives 70 % of the ideal", 32, 0.65,
		    0.75);
	claim_share(o, l, "At degree 64 a window of 64 gives 95 % of the ideal", 64, 0.92,
		    0.98);
	add(l, "The degree alone says what a window gives", few && many, fabs(a - b), 0,
	    0.05, "reproduced",
	    "refuted: the share of packets that are late decides, too",
	    fab_format("W = 32, late up to 2.7 us: %.3g with 3 %% late, %.3g with 30 %%",
		       a, b));
}

size_t rdma_claims(const struct rdma_outcome *o, struct rdma_claim *out)
{
	struct list l = {out, 0};

	switch (o->p->figure) {
	case 4:
		claim_figure_4(o, &l);
		break;
	case 5:
		claim_order(o, &l,
			    "With loss RSW is faster than SSW, SSW than RC (N <= W)",
			    2048, 2e-3);
		claim_order(o, &l, "... where a transfer is longer than the window", 512,
			    2e-3);
		break;
	case 6:
		claim_order(o, &l, "At 5 per mille RSW degrades least, RC most (N <= W)",
			    2048, 5e-3);
		claim_order(o, &l, "... where a transfer is longer than the window", 512,
			    5e-3);
		claim_cure(o, &l);
		claim_4096(o, &l);
		break;
	default:
		claim_figure_7(o, &l);
	}
	return l.n;
}
