/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/check.h"

#include "fabric/check_impl.h"
#include "fabric/label.h"
#include "fabric/ranks.h"

#include <stdlib.h>
#include <string.h>

static bool is_one_of(const char *code, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(*list, code))
			return true;
	return false;
}

static bool has_duplicate_guid(const struct fab_checker *c)
{
	for (size_t i = 0; i < c->found.n; i++)
		if (!strcmp(c->found.v[i].code, "duplicate-guid"))
			return true;
	return false;
}

static const char no_record[] = "unknown-peer";

uint32_t fab_check_without_record(const struct fab_fabric *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n_warnings; i++)
		n += !strcmp(f->warnings[i].code, no_record);
	return n;
}

static void take_warning(struct fab_checker *c, const struct fab_warning *w,
			 enum fab_severity severity)
{
	struct fab_finding at = FAB_AT_NODE(FAB_NONE);

	at.line = w->line;
	at.key = w->about ? fab_strdup(w->about) : NULL;
	fab_checker_add(c, severity, w->code, at, "%s", w->message);
}

/* That the input is incomplete explains most other findings: it comes first. */
static void take_missing_records(struct fab_checker *c)
{
	for (uint32_t i = 0; i < c->f->n_warnings; i++)
		if (!strcmp(c->f->warnings[i].code, no_record))
			take_warning(c, &c->f->warnings[i], FAB_PROBLEM);
}

/* What the reader and the builder said; what is found here anew is left out. */
static void take_warnings(struct fab_checker *c)
{
	static const char *const found_here[] = {"speed-mismatch", "width-mismatch",
						 NULL};
	static const char *const notes[] = {"foreign-line",
					    "foreign-lines",
					    "trailing-line",
					    "missing-blank-line",
					    "unused-name",
					    "unprintable-name",
					    NULL};
	const struct fab_fabric *f = c->f;
	bool has_guids = has_duplicate_guid(c);

	for (uint32_t i = 0; i < f->n_warnings; i++) {
		const struct fab_warning *w = &f->warnings[i];

		if (is_one_of(w->code, found_here) || !strcmp(w->code, no_record) ||
		    (has_guids && !strcmp(w->code, "duplicate-guid")))
			continue;
		take_warning(c, w, is_one_of(w->code, notes) ? FAB_NOTE : FAB_PROBLEM);
	}
}

static bool has_switch(const struct fab_fabric *f, uint32_t node)
{
	for (uint32_t p = f->node_first_port[node]; p < f->node_first_port[node + 1]; p++)
		if (fab_port_switch(f, p) != FAB_NONE)
			return true;
	return false;
}

static void check_adapters(struct fab_checker *c)
{
	const struct fab_fabric *f = c->f;

	for (uint32_t i = f->n_switches; i < f->n_nodes; i++) {
		const char *name = fab_node_name(f, i);

		if (!has_switch(f, i))
			fab_checker_add(
				c, FAB_PROBLEM, "adapter-without-switch", FAB_AT_NODE(i),
				"no cable joins \"%s\" (GUID 0x%016llx) to a switch",
				name, (unsigned long long)f->node_guid[i]);
		if (f->node_host[i] != FAB_NONE &&
		    fab_host_is_unnamed(f, f->node_host[i]))
			fab_checker_add(
				c, FAB_NOTE, "unnamed-adapter", FAB_AT_NODE(i),
				"adapter with GUID 0x%016llx has no name of its own: "
				"\"%s\"",
				(unsigned long long)f->node_guid[i], name);
	}
	if (f->n_aggregation_nodes)
		fab_checker_add(c, FAB_NOTE, "aggregation-nodes", FAB_AT_NODE(FAB_NONE),
				"%u SHARP aggregation node%s no host%s: OpenSM's ftree "
				"routing needs root_guid_file and cn_guid_file here",
				f->n_aggregation_nodes,
				f->n_aggregation_nodes == 1 ? " is" : "s are",
				f->n_aggregation_nodes == 1 ? "" : "s");
}

/* Problems before notes, codes together in the order in which they first came up. */
static void sort_findings(struct fab_checker *c)
{
	struct fab_finding *sorted = FAB_NEW(c->found.n, struct fab_finding);
	size_t n = 0;

	for (int severity = FAB_PROBLEM; severity >= FAB_NOTE; severity--) {
		for (size_t i = 0; i < c->found.n; i++) {
			const char *code = c->found.v[i].code;

			if (!c->found.v[i].message ||
			    (int)c->found.v[i].severity != severity)
				continue;
			for (size_t k = i; k < c->found.n; k++) {
				struct fab_finding *from = &c->found.v[k];

				if (!from->message || strcmp(from->code, code))
					continue;
				sorted[n++] = *from;
				from->message = NULL; /* taken */
			}
		}
		if (severity == FAB_PROBLEM)
			c->check->n_problems = (uint32_t)n;
	}
	free(c->found.v);
	c->check->findings = sorted;
	c->check->n_findings = (uint32_t)n;
}

/* Leaves of trees that have no host cabled to them, powered off or not. */
static void check_idle_leaves(struct fab_checker *c, const struct fab_ranks *ranks)
{
	const struct fab_fabric *f = c->f;
	uint32_t *n_hosts = FAB_NEW(f->n_switches, uint32_t);

	fab_ranks_count_all_hosts(f, n_hosts);
	for (uint32_t s = 0; s < f->n_switches; s++)
		if (!ranks->rank[s] && !n_hosts[s])
			fab_checker_add(
				c, FAB_NOTE, "leaf-without-hosts", FAB_AT_NODE(s),
				"\"%s\" has cables like a leaf switch, but no host",
				fab_node_name(f, s));
	free(n_hosts);
}

static void check_levels(struct fab_checker *c)
{
	uint32_t n = c->f->n_switches;
	struct fab_check_levels levels = {.shape = fab_shape_recognize(c->f),
					  .n_missing = FAB_NEW0(n, uint32_t)};
	struct fab_ranks ranks;

	fab_ranks_init(&ranks, c->f, levels.shape);
	levels.level = ranks.rank;
	check_idle_leaves(c, &ranks);
	fab_check_pairs(c, &levels);
	fab_check_uplinks(c, &levels);
	fab_shape_free(levels.shape);
	fab_ranks_fini(&ranks);
	free(levels.n_missing);
}

struct fab_check *fab_check_new(const struct fab_fabric *f)
{
	struct fab_checker c = {.f = f, .check = FAB_NEW0(1, struct fab_check)};

	take_missing_records(&c);
	fab_check_planes(&c);
	fab_check_links(&c);
	check_levels(&c);
	fab_check_ids(&c);
	check_adapters(&c);
	take_warnings(&c);
	sort_findings(&c);
	return c.check;
}

void fab_finding_fini(struct fab_finding *x)
{
	free(x->message);
	free(x->key);
}

void fab_check_free(struct fab_check *check)
{
	if (!check)
		return;
	for (uint32_t i = 0; i < check->n_findings; i++)
		fab_finding_fini(&check->findings[i]);
	free(check->findings);
	free(check);
}
