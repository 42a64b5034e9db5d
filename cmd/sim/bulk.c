/* SPDX-License-Identifier: BSD-2-Clause */
/* --cables-out and --histogram-out: one record a line. */
#include <math.h>
#include <stdlib.h>

#include "fabric_sim.h"
#include "present/jsonl.h"

static json_t *record_of(const struct sim_point *x)
{
	json_t *object = json_object();

	json_object_set_new(object, "algorithm", fab_json_text(x->net->algorithm));
	json_object_set_new(object, "offered",
			    isnan(x->rate) ? json_null() : fab_json_real(x->rate, false));
	return object;
}

static void add_port(json_t *object, const struct fab_fabric *f, const char *name,
		     const char *guid, const char *number, uint32_t port)
{
	uint32_t node = f->port_node[port];

	json_object_set_new(object, name, fab_json_text(fab_node_name(f, node)));
	json_object_set_new(object, guid, fab_json_guid(f->node_guid[node]));
	json_object_set_new(object, number, fab_json_uint(f->port_num[port]));
}

static int write_lane(FILE *out, const struct sim_outcome *o, const struct sim_point *x,
		      uint32_t cable, unsigned vl, struct fab_err *err)
{
	const struct fab_sim_result *s = &x->first;
	const struct fab_sim_cable *c = &s->cable[cable];
	const struct fab_sim_lane *lane = &s->lane[(size_t)cable * s->n_vls + vl];
	json_t *object = record_of(x);

	add_port(object, o->f, "from", "from_guid", "from_port", c->port);
	add_port(object, o->f, "to", "to_guid", "to_port", fab_port_peer(o->f, c->port));
	json_object_set_new(object, "vl", json_integer(vl));
	json_object_set_new(object, "utilisation", fab_json_real(c->utilisation, false));
	json_object_set_new(object, "packets", fab_json_uint(c->packets));
	json_object_set_new(object, "lane_packets", fab_json_uint(lane->packets));
	json_object_set_new(object, "mean_queue", fab_json_real(lane->mean_queue, false));
	json_object_set_new(object, "no_credit", fab_json_real(lane->no_credit, false));
	return fab_jsonl_write(out, object, err);
}

int sim_write_cables(FILE *out, const struct fab_work *w, struct fab_err *err)
{
	const struct sim_outcome *o = w->outcome;
	for (size_t i = 0; i < o->points.n; i++) {
		const struct fab_sim_result *s = &o->points.v[i].first;

		for (uint32_t c = 0; c < s->n_cables; c++)
			for (unsigned vl = 0; vl < s->n_vls; vl++) {
				int rc = write_lane(out, o, &o->points.v[i], c, vl, err);

				if (rc)
					return rc;
			}
	}
	return 0;
}

int sim_write_histogram(FILE *out, const struct fab_work *w, struct fab_err *err)
{
	const struct sim_outcome *o = w->outcome;
	for (size_t i = 0; i < o->points.n; i++) {
		const struct sim_point *x = &o->points.v[i];

		for (unsigned k = 0; k < FAB_HISTOGRAM_BUCKETS; k++) {
			json_t *object;
			int rc;

			if (!x->histogram.count[k])
				continue;
			object = record_of(x);
			json_object_set_new(
				object, "latency_ns",
				fab_json_real(
					sim_time(o->p, (double)fab_histogram_top(k)),
					true));
			json_object_set_new(object, "packets",
					    fab_json_uint(x->histogram.count[k]));
			rc = fab_jsonl_write(out, object, err);
			if (rc)
				return rc;
		}
	}
	return 0;
}
