/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-topo --diff: what differs in another fabric. */
#include <stdlib.h>

#include "base/text.h"
#include "base/units.h"
#include "fabric/check.h"
#include "fabric/diff.h"
#include "fabric/diff_plan.h"
#include "fabric/label.h"
#include "topo.h"

/* One side of a change: the node, or the ends of the cable. */
struct side {
	const char *node, *peer;
	uint64_t guid, port, peer_port;
};

struct record {
	const char *sign, *change, *object, *name, *old_text, *new_text;
	struct side old, new;
	const char *swapped_node;
	uint64_t swapped_port;
};

#define AT(member) FAB_AT(struct record, member)
static const struct fab_column columns[] = {
	FAB_COLUMN(sign, TEXT, "- only in OLD, + only in NEW, ! changed"),
	FAB_COLUMN(
		change, TEXT,
		"missing, new, moved, renamed, replaced, speed or width; with a cabling plan missing, miswired or extra"),
	FAB_COLUMN(object, TEXT, "switch, adapter, switch-link or host-link"),
	FAB_COLUMN(name, TEXT, "what changed: the node, or the ends that the cable kept"),
	{"old", FAB_TEXT, "what OLD has", 0, AT(old_text)},
	{"new", FAB_TEXT, "what NEW has", 0, AT(new_text)},
	{"old_node", FAB_TEXT, "in OLD: the node, or end a of the cable", FAB_COL_EXTRA,
	 AT(old.node)},
	{"old_guid", FAB_GUID, "its GUID", FAB_COL_EXTRA | FAB_COL_NULL_ZERO,
	 AT(old.guid)},
	{"old_port", FAB_UINT, "port of that end", FAB_COL_EXTRA | FAB_COL_NULL_ZERO,
	 AT(old.port)},
	{"old_peer", FAB_TEXT, "in OLD: end b of the cable", FAB_COL_EXTRA, AT(old.peer)},
	{"old_peer_port", FAB_UINT, "port of that end", FAB_COL_EXTRA | FAB_COL_NULL_ZERO,
	 AT(old.peer_port)},
	{"new_node", FAB_TEXT, "in NEW: the node, or end a of the cable", FAB_COL_EXTRA,
	 AT(new.node)},
	{"new_guid", FAB_GUID, "its GUID", FAB_COL_EXTRA | FAB_COL_NULL_ZERO,
	 AT(new.guid)},
	{"new_port", FAB_UINT, "port of that end", FAB_COL_EXTRA | FAB_COL_NULL_ZERO,
	 AT(new.port)},
	{"new_peer", FAB_TEXT, "in NEW: end b of the cable", FAB_COL_EXTRA, AT(new.peer)},
	{"new_peer_port", FAB_UINT, "port of that end", FAB_COL_EXTRA | FAB_COL_NULL_ZERO,
	 AT(new.peer_port)},
	{"swapped_node", FAB_TEXT,
	 "two swapped ends: of the other cable, the end that is as planned",
	 FAB_COL_EXTRA, AT(swapped_node)},
	{"swapped_port", FAB_UINT, "port of that end", FAB_COL_EXTRA | FAB_COL_NULL_ZERO,
	 AT(swapped_port)},
};
#undef AT

struct outcome {
	struct fab_fabric *old;
	struct fab_diff *diff;
	struct fab_plan_diff *wiring; /* instead of it where one is a cabling plan */
	const struct fab_fabric *plan, *found;
};

/* Texts of old and new: ends and rates of cables, GUIDs of nodes. */

static char *end_text(struct fab_arena *arena, const struct fab_fabric *f, uint32_t port)
{
	return fab_arena_format(arena, "%s port %u", fab_node_name(f, f->port_node[port]),
				f->port_num[port]);
}

static char *cable_text(struct fab_arena *arena, const struct fab_fabric *f,
			uint32_t cable)
{
	return fab_arena_format(arena, "%s - %s", end_text(arena, f, f->cable_a[cable]),
				end_text(arena, f, f->cable_b[cable]));
}

/* One side of a change: the node, or the ends and the rate of the cable. */
static const char *set_side(struct side *side, struct fab_arena *arena,
			    const struct fab_fabric *f, uint32_t node, uint32_t cable)
{
	bool is_cable = cable != FAB_NONE;

	if (is_cable) {
		uint32_t a = f->cable_a[cable], b = f->cable_b[cable];

		node = f->port_node[a];
		side->port = f->port_num[a];
		side->peer = fab_node_name(f, f->port_node[b]);
		side->peer_port = f->port_num[b];
	}
	if (node == FAB_NONE)
		return NULL;
	side->node = fab_node_name(f, node);
	side->guid = f->node_guid[node];
	return is_cable ? fab_arena_format(arena, "%ux%s", fab_cable_width(f, cable),
					   fab_speed_name(fab_cable_speed(f, cable)))
			: fab_arena_format(arena, "0x%016llx",
					   (unsigned long long)side->guid);
}

/* A moved cable: the end that it kept and the others, or the whole cables. */
static void set_moved(struct record *row, struct fab_arena *arena,
		      const struct outcome *o, const struct fab_fabric *new,
		      const struct fab_change *c)
{
	const struct fab_fabric *old = o->old;
	const uint32_t a[2] = {old->cable_a[c->old_cable], old->cable_b[c->old_cable]};
	const uint32_t b[2] = {new->cable_a[c->new_cable], new->cable_b[c->new_cable]};

	row->name = NULL;
	row->old_text = cable_text(arena, old, c->old_cable);
	row->new_text = cable_text(arena, new, c->new_cable);
	for (int k = 3; k >= 0; k--) { /* end b first: that of the adapter */
		int x = k >> 1, y = k & 1;

		if (o->diff->new_of[old->port_node[a[x]]] != new->port_node[b[y]] ||
		    old->port_num[a[x]] != new->port_num[b[y]])
			continue;
		row->name = end_text(arena, new, b[y]);
		row->old_text = end_text(arena, old, a[!x]);
		row->new_text = end_text(arena, new, b[!y]);
		return;
	}
}

/* Objects of changes, in columns and in the answer. */
enum object { SWITCH, ADAPTER, SWITCH_LINK, HOST_LINK };
static const struct {
	const char *name, *one, *many;
} objects[] = {
	[SWITCH] = {"switch", "switch", "switches"},
	[ADAPTER] = {"adapter", "adapter", "adapters"},
	[SWITCH_LINK] = {"switch-link", "cable between switches",
			 "cables between switches"},
	[HOST_LINK] = {"host-link", "cable to a host", "cables to hosts"},
};

static enum object object_of(const struct fab_fabric *old, const struct fab_fabric *new,
			     const struct fab_change *c)
{
	if (c->old_node != FAB_NONE)
		return fab_node_is_switch(old, c->old_node) ? SWITCH : ADAPTER;
	if (c->new_node != FAB_NONE)
		return fab_node_is_switch(new, c->new_node) ? SWITCH : ADAPTER;
	if (c->old_cable != FAB_NONE)
		return c->old_cable < old->n_switch_links ? SWITCH_LINK : HOST_LINK;
	return c->new_cable < new->n_switch_links ? SWITCH_LINK : HOST_LINK;
}

/* Counts of changes by kind and object, in the order in which they first occur: "2
 * switches missing". */
static void answer(struct fab_report *r, const struct fab_work *w)
{
	struct {
		enum fab_change_kind kind;
		enum object object;
		uint64_t n;
	} tally[FAB_COUNT(objects) * (FAB_CHANGE_WIDTH + 1)];
	const struct outcome *o = w->outcome;
	const struct fab_diff *diff = o->diff;
	FAB_AUTOFREE char *list = NULL;
	size_t n = 0;

	for (uint32_t i = 0; i < diff->n_changes; i++) {
		const struct fab_change *c = &diff->changes[i];
		enum object object = object_of(o->old, w->f, c);
		size_t k = 0;

		while (k < n && (tally[k].kind != c->kind || tally[k].object != object))
			k++;
		if (k == n) {
			tally[n].kind = c->kind;
			tally[n].object = object;
			tally[n++].n = 0;
		}
		tally[k].n++;
	}
	for (size_t i = 0; i < n; i++)
		fab_append(&list, ", ", "%s %s",
			   fab_human_counted(w->arena, tally[i].n,
					     objects[tally[i].object].one,
					     objects[tally[i].object].many),
			   tally[i].kind == FAB_CHANGE_SPEED ? "with another speed"
			   : tally[i].kind == FAB_CHANGE_WIDTH
				   ? "with another width"
				   : fab_change_name(tally[i].kind));
	if (list)
		fab_report_answer(
			r, FAB_TONE_WARN, "%s: %s.",
			fab_human_counted(w->arena, diff->n_changes, "difference", NULL),
			list);
	else
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"No differences in nodes, cables, names, and in speeds and widths as far as both sides know them.");
	if (!diff->by_guid)
		fab_report_answer(
			r, FAB_TONE_WARN,
			"The two share no GUID: nodes were matched by name only.");
}

/* A cabling plan and a fabric: by names and ports. */

/* "leaf1 port 5", of adapters with one port "node1 HCA-1"; the name without the model, of
 * an adapter without a name its GUID. */
static const char *short_end(struct fab_arena *arena, const struct fab_fabric *f,
			     uint32_t port)
{
	char label[FAB_LABEL_SIZE];
	uint32_t node = f->port_node[port];

	fab_label_short(fab_node_name(f, node), label, sizeof(label));
	if (f->node_kind[node] == FAB_ADAPTER &&
	    fab_host_is_unnamed(f, f->node_host[node]))
		snprintf(label, sizeof(label), "%s",
			 fab_host_name(f, f->node_host[node]));
	if (!fab_node_is_switch(f, node) && f->port_num[port] == 1)
		return fab_arena_strdup(arena, label);
	return fab_arena_format(arena, "%s port %u", label, f->port_num[port]);
}

static const char *short_cable(struct fab_arena *arena, const struct fab_fabric *f,
			       uint32_t cable)
{
	return fab_arena_format(arena, "%s - %s", short_end(arena, f, f->cable_a[cable]),
				short_end(arena, f, f->cable_b[cable]));
}

/* The end of a cable that is not `kept`; FAB_NONE kept: the whole cable. */
static const char *other_end(struct fab_arena *arena, const struct fab_fabric *f,
			     uint32_t cable, uint32_t kept)
{
	if (kept == FAB_NONE)
		return short_cable(arena, f, cable);
	return short_end(arena, f, fab_port_peer(f, kept));
}

/* Why a planned cable can be missing: devices that are not there, ports in use. */
static const char *missing_text(struct fab_arena *arena, const struct outcome *o,
				uint32_t cable)
{
	const struct fab_fabric *plan = o->plan, *f = o->found;
	const uint32_t ends[2] = {plan->cable_a[cable], plan->cable_b[cable]};

	for (int k = 0; k < 2; k++)
		if (o->wiring->end_node[ends[k]] == FAB_NONE)
			return fab_arena_format(
				arena, "not there: %s",
				fab_node_name(plan, plan->port_node[ends[k]]));
	for (int k = 0; k < 2; k++) {
		uint32_t port = fab_port_find(f, o->wiring->end_node[ends[k]],
					      o->wiring->end_port[ends[k]]);

		if (port != FAB_NONE && fab_port_peer(f, port) != FAB_NONE)
			return fab_arena_format(
				arena, "%s leads to %s", short_end(arena, f, port),
				short_end(arena, f, fab_port_peer(f, port)));
	}
	return "both ports free";
}

/* Ends a and b of a cable; a is `kept` if that is an end. */
static void set_ends(struct side *side, const struct fab_fabric *f, uint32_t cable,
		     uint32_t kept)
{
	uint32_t a = kept == FAB_NONE ? f->cable_a[cable] : kept;
	uint32_t b = fab_port_peer(f, a);

	side->node = fab_node_name(f, f->port_node[a]);
	side->guid = fab_fabric_is_plan(f) ? 0 : f->node_guid[f->port_node[a]];
	side->port = f->port_num[a];
	side->peer = fab_node_name(f, f->port_node[b]);
	side->peer_port = f->port_num[b];
}

/* A row of the table; the plan is OLD or NEW. */
static struct record wiring_row(struct fab_arena *arena, const struct outcome *o,
				const struct fab_wiring_change *c)
{
	static const char *const names[] = {[FAB_WIRING_MISSING] = "missing",
					    [FAB_WIRING_MISWIRED] = "miswired",
					    [FAB_WIRING_EXTRA] = "extra"};
	const struct fab_fabric *plan = o->plan, *f = o->found;
	bool is_old = o->plan == o->old, has_kept = c->kept_found[0] != FAB_NONE;
	struct record row = {
		.sign = c->kind == FAB_WIRING_MISWIRED		    ? "!"
			: (c->kind == FAB_WIRING_MISSING) == is_old ? "-"
								    : "+",
		.change = names[c->kind],
	};
	const char *planned = NULL, *found = NULL;
	bool is_host = false;

	if (c->kind != FAB_WIRING_EXTRA) {
		set_ends(is_old ? &row.old : &row.new, plan, c->planned[0],
			 c->kept_planned[0]);
		is_host = c->planned[0] >= plan->n_switch_links;
		planned = other_end(arena, plan, c->planned[0], c->kept_planned[0]);
	}
	if (c->kind != FAB_WIRING_MISSING) {
		set_ends(is_old ? &row.new : &row.old, f, c->found[0], c->kept_found[0]);
		is_host = c->found[0] >= f->n_switch_links;
		found = other_end(arena, f, c->found[0], c->kept_found[0]);
	}
	row.object = objects[is_host ? HOST_LINK : SWITCH_LINK].name;
	if (c->kind == FAB_WIRING_MISSING) {
		row.name = planned;
		planned = "planned";
		found = missing_text(arena, o, c->planned[0]);
	} else if (c->kind == FAB_WIRING_EXTRA) {
		row.name = found;
		planned = "not planned";
		found = "there";
	} else if (has_kept) {
		row.name = short_end(arena, f, c->kept_found[0]);
	}
	if (c->is_swap) {
		row.swapped_node = fab_node_name(f, f->port_node[c->kept_found[1]]);
		row.swapped_port = f->port_num[c->kept_found[1]];
		row.name = fab_arena_format(arena, "%s and %s swapped", row.name,
					    short_end(arena, f, c->kept_found[1]));
	}
	row.old_text = is_old ? planned : found;
	row.new_text = is_old ? found : planned;
	return row;
}

/* Devices of the plan that are not in the fabric, the first ones by name. */
static void answer_unknown(struct fab_report *r, const struct fab_work *w)
{
	enum { SHOWN = 3 };
	const struct outcome *o = w->outcome;
	uint32_t n = 0;
	FAB_AUTOFREE char *list = NULL;

	for (uint32_t i = 0; i < o->plan->n_nodes && n < SHOWN; i++)
		if (o->wiring->is_unknown[i]) {
			fab_append(&list, ", ", "%s", fab_node_name(o->plan, i));
			n++;
		}
	if (list)
		fab_report_answer(
			r, FAB_TONE_WARN, "Not in the fabric: %s of the plan (%s%s).",
			fab_human_counted(w->arena, o->wiring->n_unknown, "device", NULL),
			list, o->wiring->n_unknown > SHOWN ? ", ..." : "");
}

static void answer_wiring(struct fab_report *r, const struct fab_work *w)
{
	const struct outcome *o = w->outcome;
	const struct fab_plan_diff *d = o->wiring;
	uint32_t n_swaps = 0;

	for (uint32_t i = 0; i < d->n_changes; i++)
		n_swaps += d->changes[i].is_swap;
	if (!d->n_changes)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "No differences from the plan: %s as planned.",
				  fab_human_counted(w->arena, d->n_planned, "cable is",
						    "cables are"));
	else
		fab_report_answer(
			r, FAB_TONE_WARN,
			"%s from the plan: %u missing, %u miswired%s, %u extra; as planned: %u of %s.",
			fab_human_counted(w->arena, d->n_changes, "difference", NULL),
			d->n_of[FAB_WIRING_MISSING], d->n_of[FAB_WIRING_MISWIRED],
			n_swaps ? fab_arena_format(w->arena,
						   " (%u of them two swapped ends)",
						   n_swaps)
				: "",
			d->n_of[FAB_WIRING_EXTRA], d->n_as_planned,
			fab_human_counted(w->arena, d->n_planned, "cable", NULL));
	answer_unknown(r, w);
	if (d->n_by_host)
		fab_report_answer(
			r, FAB_TONE_WARN,
			"%s called otherwise in the fabric (%s: %s), found by host and place: two of a host that are swapped cannot be seen.",
			fab_human_counted(w->arena, d->n_by_host,
					  "adapter of the plan is",
					  "adapters of the plan are"),
			fab_node_name(o->plan, d->first_by_host),
			fab_node_name(o->found, d->node_of[d->first_by_host]));
	if (d->n_unnamed)
		fab_report_answer(
			r, FAB_TONE_WARN,
			"%s an adapter without a name: whether it is the planned one is not known (--node-name-map gives names).",
			fab_human_counted(w->arena, d->n_unnamed, "planned place has",
					  "planned places have"));
	if (d->n_inside)
		fab_report_answer(
			r, FAB_TONE_PLAIN, "Not compared: %s inside of directors.",
			fab_human_counted(w->arena, d->n_inside, "cable", NULL));
}

static int solve(struct fab_work *w, struct fab_err *err)
{
	const struct topo_params *p = w->params;
	struct fab_cli_input input = p->input;
	struct outcome *o = w->outcome;
	int rc;

	input.fabric = p->other;
	input.edit.n = 0; /* those of --edit are of the new one */
	rc = fab_cli_open_fabric(&input, &p->run, &o->old, err);
	if (rc)
		return rc;
	if (fab_fabric_is_plan(o->old) || fab_fabric_is_plan(w->f)) {
		bool is_old = fab_fabric_is_plan(o->old);

		o->plan = is_old ? o->old : w->f;
		o->found = is_old ? w->f : o->old;
		rc = fab_plan_diff_new(o->plan, o->found, &o->wiring, err);
		if (rc)
			return rc;
		return o->wiring->n_changes ? FAB_EXIT_FOUND : FAB_EXIT_DONE;
	}
	o->diff = fab_diff_new(o->old, w->f);
	return o->diff->n_changes ? FAB_EXIT_FOUND : FAB_EXIT_DONE;
}

static struct record change_row(const struct fab_work *w, const struct fab_change *c)
{
	const struct outcome *o = w->outcome;
	struct record row = {
		/* as diff(1) has them; ! of its context form */
		.sign = c->kind == FAB_CHANGE_MISSING ? "-"
			: c->kind == FAB_CHANGE_NEW   ? "+"
						      : "!",
		.change = fab_change_name(c->kind),
		.object = objects[object_of(o->old, w->f, c)].name,
	};

	row.old_text = set_side(&row.old, w->arena, o->old, c->old_node, c->old_cable);
	row.new_text = set_side(&row.new, w->arena, w->f, c->new_node, c->new_cable);
	row.name = row.new.node ? row.new.node : row.old.node;
	if (c->new_cable != FAB_NONE)
		row.name = cable_text(w->arena, w->f, c->new_cable);
	else if (c->old_cable != FAB_NONE)
		row.name = cable_text(w->arena, o->old, c->old_cable);
	if (c->kind == FAB_CHANGE_RENAMED) {
		row.old_text = row.old.node;
		row.new_text = row.new.node;
	} else if (c->kind == FAB_CHANGE_MOVED) {
		set_moved(&row, w->arena, o, w->f, c);
	}
	return row;
}

static void report(struct fab_report *r, const struct fab_work *w)
{
	const struct outcome *o = w->outcome;
	char title[512], old_name[200], new_name[200];
	bool for_people = fab_report_how(r)->format == FAB_FORMAT_TABLE;
	bool table_only = topo_is_table_only(r);
	const struct fab_brief other = fab_fabric_brief(o->old);
	uint32_t n = o->wiring ? o->wiring->n_changes : o->diff->n_changes;

	if (table_only) {
		fab_report_without_fabric(r);
	} else {
		if (o->wiring)
			answer_wiring(r, w);
		else
			answer(r, w);
		fab_report_brief(r, "other", &other);
		fab_report_text(r, "old", o->old->source);
		fab_report_text(r, "new", w->f->source);
		fab_report_text(r, "matched_by",
				o->diff && o->diff->by_guid ? "guid" : "name");
		fab_report_uint(r, "n_differences", n);
		if (o->wiring) {
			fab_report_uint(r, "planned_cables", o->wiring->n_planned);
			fab_report_uint(r, "cables_as_planned", o->wiring->n_as_planned);
			fab_report_uint(r, "cables_inside", o->wiring->n_inside);
			fab_report_uint(r, "devices_not_there", o->wiring->n_unknown);
		}
	}
	snprintf(title, sizeof(title),
		 "Differences (- only in OLD: %s, + only in NEW: %s, ! changed)",
		 fab_text_safe(o->old->source, old_name, sizeof(old_name)),
		 fab_text_safe(w->f->source, new_name, sizeof(new_name)));
	if (!n && for_people)
		return;
	FAB_TABLE_BEGIN(r, "differences", table_only ? NULL : title, columns);
	for (uint32_t i = 0; i < n; i++) {
		struct record row =
			o->wiring ? wiring_row(w->arena, o, &o->wiring->changes[i])
				  : change_row(w, &o->diff->changes[i]);

		fab_report_record(r, &row);
	}
	fab_report_table_end(r);
}

/* The node that a port of the older fabric belongs to, where it is now. */
static void mark_now(struct fab_drawing *d, const struct outcome *o, uint32_t port)
{
	uint32_t now =
		port == FAB_NONE ? FAB_NONE : o->diff->new_of[o->old->port_node[port]];

	if (now != FAB_NONE)
		fab_drawing_mark_node(d, now);
}

/* A change: where it is now, else at the nodes that had it. */
static void mark_change(struct fab_drawing *d, const struct fab_work *w,
			const struct fab_change *c)
{
	const struct outcome *o = w->outcome;
	const struct fab_fabric *old = o->old, *f = w->f;
	bool is_node = c->old_node != FAB_NONE || c->new_node != FAB_NONE;
	bool is_gone = is_node ? c->new_node == FAB_NONE : c->new_cable == FAB_NONE;
	const struct fab_fabric *in = is_gone ? old : f;
	uint32_t node = is_gone ? c->old_node : c->new_node;
	uint32_t cable = is_gone ? c->old_cable : c->new_cable;

	fab_drawing_mark(d, is_gone ? FAB_TONE_BAD : FAB_TONE_PLAIN,
			 fab_arena_format(w->arena, "%s: %s", fab_change_name(c->kind),
					  is_node ? fab_node_name(in, node)
						  : cable_text(w->arena, in, cable)));
	if (!is_gone && is_node)
		fab_drawing_mark_node(d, node);
	else if (!is_gone)
		fab_drawing_mark_cable(d, cable);
	else if (is_node)
		FAB_EACH_PORT(old, node, p)
			mark_now(d, o, fab_port_peer(old, p));
	for (int end = 0; end < 2 && !is_node && is_gone; end++)
		mark_now(d, o, end ? old->cable_b[cable] : old->cable_a[cable]);
}

static void draw(struct fab_drawing *d, const struct fab_work *w)
{
	const struct outcome *o = w->outcome;

	for (uint32_t i = 0; o->diff && i < o->diff->n_changes; i++)
		mark_change(d, w, &o->diff->changes[i]);
	for (uint32_t i = 0; o->wiring && i < o->wiring->n_changes; i++) {
		const struct fab_wiring_change *c = &o->wiring->changes[i];
		bool is_missing = c->kind == FAB_WIRING_MISSING;
		struct record row = wiring_row(w->arena, o, c);

		fab_drawing_mark(d, is_missing ? FAB_TONE_BAD : FAB_TONE_WARN,
				 fab_arena_format(w->arena, "%s: %s", row.change,
						  row.name ? row.name : "cable"));
		if (!is_missing && o->found == w->f)
			fab_drawing_mark_cable(d, c->found[0]);
	}
}

static void fini(void *outcome)
{
	struct outcome *o = outcome;

	fab_diff_free(o->diff);
	fab_plan_diff_free(o->wiring);
	fab_fabric_free(o->old);
}

const struct fab_task topo_diff = {
	.primary = "differences",
	FAB_TASK_COLUMNS(columns),
	.outcome_bytes = sizeof(struct outcome),
	.solve = solve,
	.report = report,
	.draw = draw,
	.fini = fini,
};
