/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/simulated.h"

#include "support/test.h"
#include "support/unicast_check.h"
#include "support/uniform.h"

void simulated_route(struct simulated *s, const char *engine)
{
	struct fab_unicast_problem problem = {.f = s->f,
					      .faults = s->faults,
					      .kfat = s->kfat,
					      .max_vls = 4,
					      .roots = &s->root,
					      .n_roots = s->has_root,
					      .fills_roots = s->fills_roots};

	if (s->routes) {
		fab_routes_free(s->routes);
		fab_flow_ends_fini(&s->ends);
	}
	s->routes = test_route(&problem, engine);
	fab_flow_ends_init(&s->ends, s->f, s->faults ? s->faults->switch_is_dead : NULL,
			   s->faults ? s->faults->cable_is_dead : NULL);
	s->problem = (struct fab_sim_problem){
		.f = s->f, .faults = s->faults, .ends = &s->ends, .routes = s->routes};
}

void simulated_init(struct simulated *s, const char *spec, const char *engine)
{
	*s = (struct simulated){.f = test_gen_raw(spec)};
	if (fab_kfat_recognize(s->f, &s->kfat, NULL))
		s->kfat = NULL;
	simulated_route(s, engine);
}

void simulated_fail(struct simulated *s, const char *switches, const char *engine)
{
	s->faults = fab_faults_new(s->f);
	MUST(fab_faults_add_switches(s->faults, switches, ERR));
	simulated_route(s, engine);
}

void simulated_fini(struct simulated *s)
{
	fab_flow_ends_fini(&s->ends);
	fab_routes_free(s->routes);
	fab_faults_free(s->faults);
	fab_kfat_free(s->kfat);
	fab_fabric_free(s->f);
}

struct fab_sim_params simulated_flits(unsigned kind, uint32_t mtu, uint32_t buffer,
				      uint64_t time)
{
	struct fab_sim_params params = fab_sim_defaults_by_flit();

	params.kind = &fab_sim_switches[kind];
	params.mtu = mtu;
	params.buffer = buffer;
	params.buffer_per_vl = true;
	params.warmup = 0;
	params.time = time;
	params.drain = 0;
	params.n_threads = 1;
	return params;
}

static bool next(void *context, uint32_t e, uint64_t now, struct fab_message *m)
{
	struct source *s = context;
	uint64_t i = s->sent[e];

	(void)now;
	if ((s->n_senders && e - s->first >= s->n_senders) || (s->most && i == s->most))
		return false;
	s->sent[e]++;
	*m = (struct fab_message){.time = i * s->every,
				  .target = (s->to ? s->to(e, i) : e + s->shift) %
					    s->n_ends,
				  .bytes = s->size,
				  .to_group = s->to_group};
	return true;
}

int simulated_send(const struct simulated *s, const struct fab_sim_params *params,
		   struct source source, struct fab_sim_result *r)
{
	struct fab_messages messages = {
		.context = &source, .least_payload = source.least_payload, .next = next};
	int rc;

	source.n_ends = s->ends.n;
	rc = fab_sim_run(&s->problem, params, &messages, r, ERR);
	if (!rc)
		simulated_balance(r);
	return rc;
}

void simulated_uniform(const struct simulated *s, const struct fab_sim_params *params,
		       double rate, uint32_t size, uint64_t seed,
		       struct fab_sim_result *r)
{
	FAB_AUTOFREE uint64_t *wire = FAB_NEW(s->ends.n + 1, uint64_t);
	struct fab_messages messages;
	FAB_AUTO(fab_uniform_fini) struct fab_uniform u;

	for (uint32_t i = 0; i < s->ends.n; i++)
		wire[i] = fab_sim_wire(&(struct fab_sim_wires){&s->problem, params}, i,
				       size, false);
	fab_uniform_init(&u, s->ends.n, wire, rate, size, params->by_flit, seed,
			 &messages);
	messages.least_payload = fab_last_payload(size, params->mtu);
	MUST(fab_sim_run(&s->problem, params, &messages, r, ERR));
	simulated_balance(r);
}

void simulated_balance(const struct fab_sim_result *r)
{
	const struct fab_sim_recovery *lost = &r->recovery;

	cr_expect_eq(r->born, r->lost + r->injected + r->waiting);
	cr_expect_eq(r->injected + r->copied,
		     r->delivered + r->in_flight + r->unroutable + r->looped +
			     r->dropped + lost->lost_dead + lost->lost_down);
	cr_expect_leq(lost->lost_live,
		      lost->lost_dead + lost->lost_down + r->unroutable + r->looped);
}

static bool is_equal(const void *a, const void *b, size_t bytes)
{
	return !bytes || !memcmp(a, b, bytes);
}

bool simulated_alike(const struct fab_sim_result *a, const struct fab_sim_result *b)
{
	return a->deliveries.n == b->deliveries.n &&
	       is_equal(a->deliveries.v, b->deliveries.v,
			a->deliveries.n * sizeof(*a->deliveries.v));
}

void simulated_same(const struct fab_sim_result *a, const struct fab_sim_result *b)
{
	size_t n = a->n_cables;

	cr_expect_eq(a->end, b->end);
	cr_expect_eq(a->born, b->born);
	cr_expect_eq(a->waiting, b->waiting);
	cr_expect_eq(a->events, b->events, "%zu %zu", a->events, b->events);
	cr_expect(is_equal(&a->latency, &b->latency, sizeof(a->latency)));
	cr_expect_eq(a->latency_mean, b->latency_mean);
	cr_expect_eq(a->fullest, b->fullest);
	cr_expect(is_equal(a->cable, b->cable, n * sizeof(*a->cable)));
	cr_expect(is_equal(a->lane, b->lane, n * a->n_vls * sizeof(*a->lane)));
	cr_expect_eq(a->recovery.lost_live, b->recovery.lost_live);
	cr_expect_eq(a->recovery.recovered, b->recovery.recovered);
	cr_expect(simulated_alike(a, b));
}

void simulated_cycle(const struct fab_sim_result *r)
{
	cr_assert_geq(r->cycle.n, 2);
	for (size_t i = 0; i < r->cycle.n; i++) {
		cr_expect_gt(r->cycle.v[i].packets, 0);
		for (size_t k = 0; k < i; k++)
			cr_expect(r->cycle.v[k].port != r->cycle.v[i].port ||
				  r->cycle.v[k].vl != r->cycle.v[i].vl);
	}
}
