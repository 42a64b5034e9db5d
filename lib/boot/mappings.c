/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "boot/limits.h"
#include "boot/machine_names.h"
#include "boot/mapping_impl.h"

#define ADDRESS(row) &fab_mapping_##row,
const struct fab_mapping_engine *const fab_mapping_engines[] = {
	FAB_MAPPING_ENGINES(ADDRESS)};
const size_t fab_mapping_n_engines = FAB_COUNT(fab_mapping_engines);

static struct fab_choice choice_at(size_t i)
{
	const struct fab_mapping_engine *e = fab_mapping_engines[i];

	return (struct fab_choice){e->form, e->summary, e->manual, e->is_in_all};
}

const struct fab_choices fab_mapping_choices = {
	"algorithm", FAB_COUNT(fab_mapping_engines), choice_at};

int fab_mapping_choose(const struct fab_chosen *chosen, struct fab_mapping_choice *out,
		       struct fab_err *err)
{
	const struct fab_mapping_engine *e = fab_mapping_engines[chosen->row];
	size_t len = chosen->len, n = fab_choice_name_len(e->form);
	uint64_t argument = 0;

	if (n < len && !fab_parse_u64(chosen->text + n + 1, len - n - 1, 1,
				      UINT32_MAX - 1, &argument))
		return fab_fail(err, EINVAL, "'%.*s': expected %s, N nodes from 1 on",
				len > 60 ? 60 : (int)len, chosen->text, e->form);
	*out = (struct fab_mapping_choice){.engine = e, .argument = (uint32_t)argument};
	snprintf(out->name, sizeof(out->name), "%.*s", (int)len, chosen->text);
	return 0;
}

uint32_t *fab_interfaces_up(const struct fab_machine *m, uint32_t *n)
{
	uint32_t *up = FAB_NEW((size_t)m->n_interfaces + 1, uint32_t);

	*n = 0;
	for (uint32_t i = 0; i < m->n_interfaces; i++)
		if (fab_interface_is_up(m, i))
			up[(*n)++] = i;
	return up;
}

/* How many turns an interface takes: as it is faster than the slowest. */
static uint32_t turns(double rate, double least)
{
	double times = isfinite(rate) && least > 0 ? nearbyint(rate / least) : 1;

	return times < 1 ? 1 : times > 64 ? 64 : (uint32_t)times;
}

/* Where the rounds through the branches stand. */
struct spread {
	const struct fab_machine *m;
	uint32_t *first, *next; /* children that lead to interfaces */
	uint32_t *n_children;
	uint32_t *at;	/* turns taken so far */
	uint32_t *left; /* turns left below */
};

static uint32_t take(struct spread *s)
{
	uint32_t v = 0;

	for (;;) {
		uint32_t k, child;

		s->left[v]--;
		if (!s->n_children[v])
			return s->m->first_interface[v];
		do {
			uint32_t t = s->at[v]++, n = s->n_children[v];

			child = s->first[v];
			for (k = (t + t / n) % n; k; k--)
				child = s->next[child];
		} while (!s->left[child]);
		v = child;
	}
}

uint32_t *fab_interfaces_spread(const struct fab_machine *m, uint32_t *n)
{
	uint32_t nv = m->n_vertices, total = 0, *out;
	struct spread s = {.m = m,
			   .first = FAB_NEW(nv, uint32_t),
			   .next = FAB_NEW(nv, uint32_t),
			   .n_children = FAB_NEW0(nv, uint32_t),
			   .at = FAB_NEW0(nv, uint32_t),
			   .left = FAB_NEW0(nv, uint32_t)};
	double least = INFINITY, *rate = fab_limits_interfaces(m);

	for (uint32_t i = 0; i < m->n_interfaces; i++)
		if (fab_interface_is_up(m, i))
			least = fmin(least, rate[i]);
	for (uint32_t i = 0; i < m->n_interfaces; i++)
		if (fab_interface_is_up(m, i))
			total += s.left[m->interface_vertex[i]] = turns(rate[i], least);
	free(rate);
	for (uint32_t v = 0; v < nv; v++)
		s.first[v] = s.next[v] = FAB_NONE;
	for (uint32_t v = nv; v-- > 1;) {
		uint32_t p = m->parent[v];

		if (!s.left[v])
			continue;
		s.left[p] += s.left[v];
		s.next[v] = s.first[p];
		s.first[p] = v;
		s.n_children[p]++;
	}
	out = FAB_NEW((size_t)total + 1, uint32_t);
	for (uint32_t i = 0; i < total; i++)
		out[i] = take(&s);
	free(s.first);
	free(s.next);
	free(s.n_children);
	free(s.at);
	free(s.left);
	*n = total;
	return out;
}

struct mapping_reader {
	struct fab_lookup nodes, interfaces;
	uint32_t *interface_of;
};

/* NODE SERVER; several nodes may be a host list. */
static int read_pair(void *context, struct fab_item line, struct fab_err *err)
{
	const struct mapping_reader *r = context;
	struct fab_item pair[2];
	struct fab_ids nodes = {0};
	uint32_t interface;
	int rc = fab_list_pair(line.text, line.len, " \t,", pair, err);

	if (rc)
		return fab_fail(err, EINVAL, "expected NODE SERVER");
	rc = fab_lookup_item(&r->nodes, &pair[0], &nodes, NULL, err);
	if (!rc)
		rc = r->interfaces.find(r->interfaces.of, &pair[1], &interface, err);
	for (size_t i = 0; i < nodes.of.n && !rc; i++) {
		uint32_t *of = &r->interface_of[nodes.of.v[i]];

		if (*of != FAB_NONE && *of != interface)
			rc = fab_fail(err, EINVAL, "'%.*s' has another server already",
				      pair[0].len > 80 ? 80 : (int)pair[0].len,
				      pair[0].text);
		*of = interface;
	}
	free(nodes.of.v);
	return rc;
}

int fab_mapping_read(const struct fab_machine *m, const char *file, const char *text,
		     size_t len, uint32_t *interface_of, struct fab_err *err)
{
	struct fab_machine_names *names = fab_machine_names_new(m);
	struct mapping_reader r = {.nodes = fab_machine_node_lookup(names),
				   .interfaces = fab_machine_interface_lookup(names),
				   .interface_of = interface_of};
	int rc;

	for (uint32_t i = 0; i < m->n_nodes; i++)
		interface_of[i] = FAB_NONE;
	rc = fab_list_lines(file, text, len, read_pair, &r, err);
	fab_machine_names_free(names);
	return rc;
}

uint32_t fab_mapping_moved(const struct fab_machine *m, const uint32_t *a,
			   const uint32_t *b)
{
	uint32_t moved = 0;

	for (uint32_t i = 0; i < m->n_nodes; i++)
		moved += a[i] != b[i];
	return moved;
}

int fab_mapping_verify(const struct fab_machine *m, const struct fab_batch *batch,
		       const uint32_t *interface_of, struct fab_err *err)
{
	char name[256];

	for (uint32_t i = 0; i < batch->n; i++) {
		uint32_t node = batch->node[i], at = interface_of[node];

		if (at < m->n_interfaces && fab_interface_is_up(m, at))
			continue;
		fab_machine_node_name(m, node, name, sizeof(name));
		return fab_fail(err, EINVAL, "node '%s' has %s", name,
				at < m->n_interfaces ? "a server that is down"
						     : "no server");
	}
	return 0;
}
