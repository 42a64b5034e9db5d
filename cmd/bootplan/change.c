/* SPDX-License-Identifier: BSD-2-Clause */
/* The machine before and after servers fail, servers are new, nodes are gone. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "boot/share.h"
#include "bootplan.h"

/* Lists of servers or nodes of an option, marked in mark[n]. */
struct marking {
	const char *option, *leaves; /* what is wrong with naming all there are */
	const char *const *lists;
	size_t n_lists;
	int (*find)(const struct fab_machine *, const char *, bool *,
		    struct fab_matches *, struct fab_err *);
	bool *mark;
	uint32_t n;
};

static int mark_all(const struct bootplan_params *p, const struct fab_machine *m,
		    const struct marking *x, struct fab_err *err)
{
	struct fab_matches matches = {.with_names = p->run.verbose};

	for (size_t i = 0; i < x->n_lists; i++) {
		uint32_t n = 0;
		int rc = x->find(m, x->lists[i], x->mark, &matches, err);

		if (rc) {
			fab_err_prefix(err, x->option);
			return rc;
		}
		for (uint32_t k = 0; k < x->n; k++)
			n += x->mark[k];
		if (n == x->n)
			return fab_fail(err, EINVAL, "%s: '%.80s' leaves no %s",
					x->option, x->lists[i], x->leaves);
		fab_cli_tell_matches(&p->run, x->option, &matches);
	}
	return 0;
}

static int mark_servers(const struct bootplan_params *p, struct fab_machine *m,
			struct bootplan_change *c, struct fab_err *err)
{
	const struct marking failed = {
		"--fail-server",	  "server that is up", p->failed.v, p->failed.n,
		fab_machine_find_servers, m->server_is_down,   m->n_servers};
	struct marking with = {"--with-server", "server that was there before", p->with.v,
			       p->with.n,	fab_machine_find_servers,	NULL,
			       m->n_servers};
	char name[BOOTPLAN_NAME_BYTES];
	int rc = mark_all(p, m, &failed, err);

	with.mark = c->was_down = FAB_NEW0((size_t)m->n_servers + 1, bool);
	if (!rc)
		rc = mark_all(p, m, &with, err);
	for (uint32_t s = 0; s < m->n_servers && !rc; s++)
		if (c->was_down[s] && m->server_is_down[s])
			rc = fab_fail(err, EINVAL,
				      "--with-server: '%s' is down by --fail-server",
				      fab_machine_server_name(m, s, name, sizeof(name)));
	return rc;
}

int bootplan_change_init(struct bootplan_change *c, const struct bootplan_params *p,
			 struct fab_machine *m, struct fab_machine **out,
			 struct fab_err *err)
{
	int rc;

	*c = (struct bootplan_change){.is_any = p->failed.n || p->with.n || p->without.n};
	*out = m;
	rc = mark_servers(p, m, c, err);
	if (rc || !p->without.n)
		return rc;
	c->is_gone = FAB_NEW0((size_t)m->n_nodes + 1, bool);
	c->old_node = FAB_NEW((size_t)m->n_nodes + 1, uint32_t);
	rc = mark_all(p, m,
		      &(struct marking){"--without-node", "node to boot", p->without.v,
					p->without.n, fab_machine_find_nodes, c->is_gone,
					m->n_nodes},
		      err);
	if (rc)
		return rc;
	c->old = m;
	rc = fab_machine_without(m, c->is_gone, c->old_node, out, err);
	if (rc)
		fab_err_prefix(err, "--without-node");
	return rc;
}

void bootplan_change_limit(struct bootplan_change *c, const struct bootplan_params *p,
			   struct fab_machine *now)
{
	fab_limits_apply(now, &p->limits, p->efficiency);
	if (c->old)
		fab_limits_apply(c->old, &p->limits, p->efficiency);
	c->before = c->old ? *c->old : *now;
	c->before.server_is_down = c->was_down;
}

void bootplan_change_fini(struct bootplan_change *c)
{
	free(c->was_down);
	free(c->is_gone);
	free(c->old_node);
	fab_machine_free(c->old);
}

void bootplan_batch_before(const struct bootplan_change *c, const struct fab_batch *batch,
			   struct fab_batch *out)
{
	struct fab_ids ids = {0};

	if (!c->old_node) {
		*out = *batch;
		out->is_borrowed = true;
		out->text = fab_strdup(batch->text);
		out->matches = (struct fab_matches){0};
		return;
	}
	for (uint32_t i = 0; i < batch->n; i++)
		FAB_PUSH(&ids.of, c->old_node[batch->node[i]]);
	for (uint32_t i = 0; i < c->old->n_nodes; i++)
		if (c->is_gone[i])
			FAB_PUSH(&ids.of, i);
	fab_batch_of(ids.of.v, (uint32_t)ids.of.n, batch->text, out);
	free(ids.of.v);
}

uint32_t *bootplan_mapping_now(const struct bootplan_change *c,
			       const struct fab_machine *now, const uint32_t *before)
{
	uint32_t *of = FAB_NEW((size_t)now->n_nodes + 1, uint32_t);

	for (uint32_t i = 0; i < now->n_nodes; i++)
		of[i] = before[c->old_node ? c->old_node[i] : i];
	return of;
}
