/* SPDX-License-Identifier: BSD-2-Clause */
/* Trials of remedies: the changed fabric is routed and analysed again, and kept if that
 * ends the loop. */
#include "unicast/cure/impl.h"

#include "fabric/edit.h"

static enum fab_ends ends_of(const struct fab_cure_search *s, const struct fab_kfat *kfat)
{
	return s->options->has_ends ? s->options->ends
	       : kfat		    ? FAB_ENDS_LEAVES
				    : FAB_ENDS_HOSTS;
}

void fab_cure_tables_fini(struct fab_cure_tables *x)
{
	fab_analysis_fini(&x->j);
	fab_routes_free(x->routes);
}

int fab_cure_analyse(const struct fab_cure_search *s, const struct fab_unicast_problem *p,
		     struct fab_cure_tables *x, struct fab_err *err)
{
	const struct fab_analysis_options options = {.ends = ends_of(s, p->kfat),
						     .n_threads = p->n_threads};
	FAB_AUTO(fab_routes_free_at)
	struct fab_routes *whole =
		options.ends == FAB_ENDS_LEAVES || x->routes->column_lid
			? NULL
			: fab_routes_complete(x->routes);

	return fab_analyse(whole ? whole : x->routes, &options, &x->j, err);
}

int fab_cure_judge(const struct fab_cure_search *s, const struct fab_unicast_problem *p,
		   const struct fab_unicast_engine *engine, struct fab_cure_tables *x,
		   struct fab_err *err)
{
	int rc;

	*x = (struct fab_cure_tables){.routes = NULL};
	rc = engine->route(p, &x->routes, err);
	if (rc) {
		x->routes = NULL;
		return rc;
	}
	rc = fab_cure_analyse(s, p, x, err);
	if (rc) {
		fab_routes_free(x->routes);
		x->routes = NULL;
	}
	return rc;
}

bool fab_cure_is_proper(const struct fab_cure_search *s, uint32_t cable)
{
	const uint32_t *rank = s->ranks.rank;
	uint32_t a = rank[s->f->port_node[s->f->cable_a[cable]]];
	uint32_t b = rank[s->f->port_node[s->f->cable_b[cable]]];

	return a != FAB_NONE && b != FAB_NONE && (a + 1 == b || b + 1 == a);
}

bool fab_cure_works(const struct fab_cure_search *s, const struct fab_analysis *j,
		    uint64_t n_pairs)
{
	return j->deadlock_free && j->pairs == s->loop->pairs &&
	       j->unreachable <= s->loop->unreachable + n_pairs;
}

bool fab_cure_is_stopped(const struct fab_cure_search *s, uint64_t done, uint64_t total)
{
	return s->options->progress &&
	       s->options->progress(s->options->progress_context, done, total);
}

static unsigned port_of_entry(const struct fab_routes *r, const uint16_t *next,
			      uint32_t sw)
{
	const struct fab_fabric *f = r->f;
	uint32_t arc = f->arc_first[sw] + next[sw];

	return arc < f->arc_first[sw + 1] ? f->port_num[fab_arc_port(f, sw, arc)] : 0;
}

/* Entries with another port, of two fabrics with the same nodes. */
static uint64_t count_changed(const struct fab_routes *a, const struct fab_routes *b)
{
	uint64_t n = 0;

	if (!a->column_lid || !b->column_lid || a->n_columns != b->n_columns ||
	    a->f->n_switches != b->f->n_switches)
		return UINT64_MAX;
	for (uint32_t c = 0; c < a->n_columns; c++) {
		const uint16_t *x = fab_routes_next(a, c), *y = fab_routes_next(b, c);

		for (uint32_t s = 0; s < a->f->n_switches; s++)
			n += port_of_entry(a, x, s) != port_of_entry(b, y, s);
	}
	return n;
}

int fab_cure_keep(struct fab_cure_search *s, const struct fab_cure *cure,
		  const struct fab_cure_tables *x, struct fab_err *err)
{
	struct fab_cure c = *cure;
	int rc;

	c.entries = count_changed(s->now.routes, x->routes);
	c.max_hops = x->j.max_hops;
	c.vls = x->j.vls;
	c.valley_pairs = x->j.valley_pairs;
	rc = fab_uniform_load(x->routes, s->problem.n_threads, &c.load, err);
	if (!rc)
		FAB_PUSH(&s->out->of, c);
	return rc;
}

void fab_cure_changed_fini(struct fab_cure_changed *c)
{
	if (c->x.routes)
		fab_cure_tables_fini(&c->x);
	fab_kfat_free(c->kfat);
	fab_fabric_free(c->f);
}

int fab_cure_change(const struct fab_cure_search *s, const char *edit,
		    const struct fab_unicast_engine *engine, struct fab_cure_changed *out,
		    struct fab_err *err)
{
	struct fab_editor *e = fab_editor_new(s->f);
	struct fab_unicast_problem p = s->problem;
	int rc = fab_editor_add(e, edit, strlen(edit), err);

	*out = (struct fab_cure_changed){.f = NULL};
	if (!rc)
		rc = fab_editor_finish(e, NULL, &out->f, err);
	if (rc)
		out->f = NULL;
	fab_editor_free(e);
	if (rc)
		return rc;
	if (!p.kfat || fab_kfat_recognize(out->f, &out->kfat, NULL))
		out->kfat = NULL;
	p.f = out->f;
	p.kfat = out->kfat;
	if (fab_unicast_fits(engine, &p, NULL))
		return 0;
	rc = fab_cure_judge(s, &p, engine, &out->x, err);
	if (rc)
		fab_cure_changed_fini(out);
	return rc;
}

int fab_cure_try_edit(struct fab_cure_search *s, const struct fab_cure *cure, bool keeps,
		      struct fab_err *err)
{
	struct fab_cure_changed c;
	int rc = fab_cure_change(s, cure->edit, cure->engine, &c, err);
	bool is_one;

	if (rc)
		return rc;
	is_one = c.x.routes && fab_cure_works(s, &c.x.j, 0);
	if (is_one && keeps)
		rc = fab_cure_keep(s, cure, &c.x, err);
	fab_cure_changed_fini(&c);
	return rc ? rc : is_one;
}
