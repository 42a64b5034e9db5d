/* SPDX-License-Identifier: BSD-2-Clause */
/* The cables of a fabric as a cabling plan, by names and ports. */
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "export/fabrics.h"
#include "fabric/diff_plan.h"
#include "fabric/hosts.h"
#include "fabric/label.h"
#include "fabric/resolver.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct planner {
	const struct fab_fabric *f;
	struct fab_arena arena;
	const char **name; /* [n_nodes] as a plan names it, NULL: not needed */
};

/* Does a plan with this name mean this node, and can it be written? */
static bool is_good(const struct planner *x, const struct fab_resolver *names,
		    const char *name, uint32_t node)
{
	return *name && fab_text_is_safe(name) &&
	       fab_plan_find_node(x->f, names, name) == node;
}

/* Names of all nodes with cables. */
static int name_nodes(struct planner *x, struct fab_err *err)
{
	const struct fab_fabric *f = x->f;
	FAB_AUTO(fab_resolver_free_at) struct fab_resolver *names = fab_resolver_new(f);
	FAB_AUTO(fab_strmap_free_at)
	struct fab_strmap *by_name = fab_strmap_new(f->n_nodes);
	char **lower = FAB_ARENA_NEW(&x->arena, f->n_nodes, char *);
	char label[FAB_LABEL_SIZE], guid[24];
	int rc = 0;

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		fab_label_short(fab_node_name(f, i), label, sizeof(label));
		x->name[i] = fab_arena_strdup(&x->arena, label + strspn(label, " \t"));
		lower[i] = fab_arena_strdup(&x->arena, x->name[i]);
		for (char *c = lower[i]; *c; c++)
			*c = (char)tolower((unsigned char)*c);
		if (fab_strmap_put(by_name, lower[i], strlen(lower[i]), i) != i)
			fab_strmap_set(by_name, lower[i], strlen(lower[i]), FAB_SHARED);
	}
	for (uint32_t i = 0; i < f->n_nodes && !rc; i++) {
		if (fab_strmap_get(by_name, lower[i], strlen(lower[i])) == i &&
		    is_good(x, names, x->name[i], i))
			continue;
		snprintf(guid, sizeof(guid), "0x%016" PRIx64, f->node_guid[i]);
		if (is_good(x, names, guid, i))
			x->name[i] = fab_arena_strdup(&x->arena, guid);
		else if (f->node_kind[i] != FAB_AGGREGATION &&
			 f->node_first_port[i + 1] > f->node_first_port[i])
			rc = fab_fail(
				err, EINVAL,
				"\"%s\" (GUID %s) shares its name and its GUID with others, expected one of them of its own",
				fab_node_name(f, i), guid);
	}
	return rc;
}

static void put_field(FILE *out, const char *text)
{
	fab_text_put_csv(out, text, *text == '#');
}

/* "core/L16/U2" and port 20: core, "Blade 16_Port 2/20". */
static bool put_module(FILE *out, const char *name, unsigned port)
{
	const char *chip = strrchr(name, '/'), *board;
	unsigned at, on;
	char text[64];
	int n = 0;

	board = chip ? memrchr(name, '/', (size_t)(chip - name)) : NULL;
	if (!board || board == name || sscanf(board, "/L%2u/U%2u%n", &at, &on, &n) != 2)
		return false;
	/* only what is read back as the same name */
	snprintf(text, sizeof(text), "/L%02u/U%u", at, on);
	if (!at || !on || strcmp(text, board) != 0)
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)(board - name), name);
	if (strlen(text) != (size_t)(board - name))
		return false;
	put_field(out, text);
	fprintf(out, ",Blade %02u_Port %u/%u", at, on, port);
	return true;
}

/* "node1 HCA-1": node1, "node1 HCA-1". */
static bool put_adapter(FILE *out, const char *name)
{
	const char *blank = strchr(name, ' ');
	char host[FAB_LABEL_SIZE];

	if (!blank || blank == name || strpbrk(name, "/\t") || strchr(blank + 1, ' ') ||
	    !fab_hosts_is_adapter(blank + 1, strlen(blank + 1)))
		return false;
	snprintf(host, sizeof(host), "%.*s", (int)(blank - name), name);
	put_field(out, host);
	putc(',', out);
	put_field(out, name);
	return true;
}

static void put_end(FILE *out, const struct planner *x, uint32_t port)
{
	uint32_t node = x->f->port_node[port];
	unsigned num = x->f->port_num[port];
	const char *name = x->name[node];

	if (fab_node_is_switch(x->f, node) ? put_module(out, name, num)
					   : num == 1 && put_adapter(out, name))
		return;
	put_field(out, name);
	fprintf(out, ",Port %u", num);
}

int fab_export_plan(FILE *out, const struct fab_fabric *f, struct fab_err *err)
{
	struct planner x = {.f = f};
	int rc;

	x.name = FAB_ARENA_NEW(&x.arena, f->n_nodes, const char *);
	rc = name_nodes(&x, err);
	if (!rc)
		fputs("StartDevice,StartPort,EndDevice,EndPort\n", out);
	for (uint32_t i = 0; i < f->n_cables && !rc; i++) {
		if (!fab_cable_is_planned(f, i))
			continue;
		put_end(out, &x, f->cable_a[i]);
		putc(',', out);
		put_end(out, &x, f->cable_b[i]);
		putc('\n', out);
	}
	fab_arena_free(&x.arena);
	return rc;
}
