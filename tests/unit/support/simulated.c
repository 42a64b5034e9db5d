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

void simulated_fini(struct simulated *s)
{
	fab_flow_ends_fini(&s->ends);
	fab_routes_free(s->routes);
	fab_faults_free(s->faults);
	fab_kfat_free(s->kfat);
	fab_fabric_free(s->f);
}

void simulated_seed(const struct simulated *s, const struct fab_sim_params *params,
		    double rate, uint32_t size, uint64_t seed, struct fab_sim_result *r)
{
	FAB_AUTOFREE uint64_t *wire = FAB_NEW(s->ends.n + 1, uint64_t);
	struct fab_messages messages;
	FAB_AUTO(fab_uniform_fini) struct fab_uniform u;

	for (uint32_t i = 0; i < s->ends.n; i++)
		wire[i] = fab_sim_wire(&(struct fab_sim_wires){&s->problem, params}, i,
				       size, false);
	fab_uniform_init(&u, s->ends.n, wire, rate, size, params->by_flit ? 1 : 0, seed,
			 &messages);
	messages.least_payload = fab_last_payload(size, params->mtu);
	MUST(fab_sim_run(&s->problem, params, &messages, r, ERR));
}

void simulated_turn_right(struct simulated *s, uint32_t column)
{
	const struct fab_fabric *f = s->f;
	struct fab_routes *r = s->routes;
	uint32_t row = r->column_row ? r->column_row[column] : column;

	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++)
			if (f->arc_peer[a] == (sw + 1) % f->n_switches &&
			    sw != r->column_switch[column])
				r->next[(size_t)row * f->n_switches + sw] =
					(uint16_t)(a - f->arc_first[sw]);
}

void simulated_uniform(const struct simulated *s, const struct fab_sim_params *params,
		       double rate, uint32_t size, struct fab_sim_result *r)
{
	simulated_seed(s, params, rate, size, 1, r);
}
