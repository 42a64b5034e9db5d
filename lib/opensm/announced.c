/* SPDX-License-Identifier: BSD-2-Clause */
#include "opensm/announced.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"

/* States of one life that are kept; a group that is ready again and again has more. */
enum {
	HISTORY = 16,
	MAX_MEMBERS = 65535,
	MLID_START = 0xc000,
	WHERE_BYTES = 4096 + 16,
};

struct entry {
	struct fab_mgid mgid;
	uint32_t announced; /* members; 0: not in the file any more */
	double announced_timeout_s;
	uint32_t number; /* FAB_NONE: no members */
	/* of this life */
	uint32_t count; /* members that it is to have */
	double timeout_s;
	enum fab_lifecycle_state state;
	bool is_given_up;
	uint32_t n_joined, n_held;
	uint64_t *held; /* [n_held] ascending: members of the tree */
	uint64_t pass;	/* in which it was computed */
	unsigned n_history;
	struct {
		enum fab_lifecycle_state state;
		double at;
	} history[HISTORY];
	uint64_t n_computed; /* of all lives */
};

struct fab_announced {
	uint32_t n_groups;
	FAB_VEC(struct entry) all; /* ascending by MGID */
	uint32_t *of;		   /* [n_groups] place in `all`, FAB_NONE */
	struct fab_mgid *seen;	   /* [n_groups] the last one under a number */
	uint32_t n_active, n_computing;
	size_t looked_at; /* where fab_announced_computing() goes on */
	double due_at;	  /* no time-out is before it */
	bool is_changed;
	FAB_VEC(uint64_t) members; /* of the group that is decided on */
};

struct fab_announced *fab_announced_new(uint32_t n_groups)
{
	struct fab_announced *a = FAB_NEW0(1, struct fab_announced);

	a->n_groups = n_groups;
	a->of = FAB_NEW(n_groups, uint32_t);
	memset(a->of, 0xff, n_groups * sizeof(*a->of));
	a->seen = FAB_NEW0(n_groups, struct fab_mgid);
	a->due_at = INFINITY;
	return a;
}

void fab_announced_free(struct fab_announced *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->all.n; i++)
		free(a->all.v[i].held);
	FAB_FREE_ALL(a->all.v, a->of, a->seen, a->members.v, a);
}

static int cmp_entry(const void *a, const void *b)
{
	return memcmp(&((const struct entry *)a)->mgid, &((const struct entry *)b)->mgid,
		      sizeof(struct fab_mgid));
}

static struct entry *find(const struct fab_announced *a, const struct fab_mgid *mgid)
{
	struct entry key = {.mgid = *mgid};

	return a->all.n ? bsearch(&key, a->all.v, a->all.n, sizeof(*a->all.v), cmp_entry)
			: NULL;
}

struct fab_announcements {
	FAB_VEC(struct entry) all; /* ascending by MGID */
};

void fab_announcements_free(struct fab_announcements *list)
{
	if (list)
		FAB_FREE_ALL(list->all.v, list);
}

/* The next word of a line; its length, 0: no more. */
static size_t next_word(const char **at)
{
	static const char blanks[] = " \t\r";

	*at += strspn(*at, blanks);
	return strcspn(*at, " \t\r\n#");
}

/* A line; *is_empty: it has no word. */
static int parse_line(const char *at, struct entry *e, bool *is_empty,
		      struct fab_err *err)
{
	size_t len = next_word(&at);
	uint64_t members = 0, seconds = FAB_ANNOUNCED_TIMEOUT_S;
	char mgid[INET6_ADDRSTRLEN];

	*e = (struct entry){.number = FAB_NONE};
	*is_empty = !len;
	if (!len)
		return 0;
	snprintf(mgid, sizeof(mgid), "%.*s",
		 (int)(len < sizeof(mgid) ? len : sizeof(mgid) - 1), at);
	if (len >= sizeof(mgid) || inet_pton(AF_INET6, mgid, e->mgid.raw) != 1 ||
	    e->mgid.raw[0] != 0xff)
		return fab_fail(
			err, EINVAL,
			"expected the MGID of a group, an IPv6 address from ff00:: on");
	at += len;
	len = next_word(&at);
	if (!fab_parse_u64(at, len, 1, MAX_MEMBERS, &members))
		return fab_fail(err, EINVAL,
				"expected the number of members after the MGID, 1 to %d",
				MAX_MEMBERS);
	at += len;
	len = next_word(&at);
	if (len && !fab_parse_u64(at, len, 0, UINT32_MAX, &seconds))
		return fab_fail(
			err, EINVAL,
			"expected a time-out in seconds after the number of members, 0 for none");
	at += len;
	if (len && next_word(&at))
		return fab_fail(err, EINVAL, "expected MGID MEMBERS [SECONDS]");
	e->announced = (uint32_t)members;
	e->announced_timeout_s = (double)seconds;
	return 0;
}

int fab_announcements_parse(const char *file, const char *text,
			    struct fab_announcements **out, struct fab_err *err)
{
	struct fab_announcements *list = FAB_NEW0(1, struct fab_announcements);
	unsigned line = 1;
	int rc = 0;

	for (const char *at = text; *at && !rc; line++) {
		char where[WHERE_BYTES];
		bool is_empty;
		struct entry e;

		rc = parse_line(at, &e, &is_empty, err);
		if (!rc && !is_empty)
			FAB_PUSH(&list->all, e);
		if (!rc && list->all.n > FAB_ANNOUNCED_MAX)
			rc = fab_fail(err, EINVAL, "expected at most %d groups",
				      FAB_ANNOUNCED_MAX);
		if (rc) {
			snprintf(where, sizeof(where), "%s:%u", file, line);
			fab_err_prefix(err, where);
		}
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	FAB_SORT(&list->all, cmp_entry);
	for (size_t i = 1; i < list->all.n && !rc; i++)
		if (!cmp_entry(&list->all.v[i - 1], &list->all.v[i])) {
			char mgid[INET6_ADDRSTRLEN];

			inet_ntop(AF_INET6, list->all.v[i].mgid.raw, mgid, sizeof(mgid));
			rc = fab_fail(err, EINVAL, "%s: group %s is announced twice",
				      file, mgid);
		}
	*out = rc ? NULL : list;
	if (rc)
		fab_announcements_free(list);
	return rc;
}

void fab_announced_take(struct fab_announced *a, const struct fab_announcements *list)
{
	size_t n = a->all.n, n_all;

	/* groups that have members stay, whatever is said of them */
	FAB_RESERVE(&a->all, list->all.n);
	for (size_t i = 0; i < n; i++)
		a->all.v[i].announced = 0;
	for (size_t i = 0; i < list->all.n; i++) {
		const struct entry *new = &list->all.v[i];
		struct entry *e =
			n ? bsearch(new, a->all.v, n, sizeof(*new), cmp_entry) : NULL;

		if (e) {
			e->announced = new->announced;
			e->announced_timeout_s = new->announced_timeout_s;
		} else {
			a->all.v[a->all.n++] = *new;
		}
	}
	n_all = a->all.n;
	a->all.n = 0;
	for (size_t i = 0; i < n_all; i++) {
		struct entry e = a->all.v[i];

		if (e.announced || e.number != FAB_NONE)
			a->all.v[a->all.n++] = e;
	}
	FAB_SORT(&a->all, cmp_entry);
	for (uint32_t i = 0; i < a->all.n; i++)
		if (a->all.v[i].number != FAB_NONE)
			a->of[a->all.v[i].number] = i;
	a->is_changed = true;
}

static bool is_timed(const struct entry *e)
{
	return e->timeout_s > 0 && (e->state == FAB_LIFECYCLE_RECEIVING_JOIN ||
				    e->state == FAB_LIFECYCLE_RECEIVING_LEAVE);
}

static double ends_at(const struct entry *e)
{
	return e->history[e->n_history - 1].at + e->timeout_s;
}

static void enter(struct fab_announced *a, struct entry *e,
		  enum fab_lifecycle_state state, double now)
{
	a->n_computing += (state == FAB_LIFECYCLE_COMPUTING) -
			  (uint32_t)(e->state == FAB_LIFECYCLE_COMPUTING);
	e->state = state;
	if (e->n_history == HISTORY) {
		memmove(e->history, e->history + 1,
			sizeof(e->history) / HISTORY * (HISTORY - 1));
		e->n_history--;
	}
	e->history[e->n_history].state = state;
	e->history[e->n_history++].at = now;
	if (is_timed(e))
		a->due_at = fmin(a->due_at, ends_at(e));
	a->is_changed = true;
}

/* The group has no members any more. */
static void end(struct fab_announced *a, struct entry *e, double now)
{
	if (!e->is_given_up && e->state != FAB_LIFECYCLE_DESTROYING)
		enter(a, e, FAB_LIFECYCLE_DESTROYING, now);
	enter(a, e, FAB_LIFECYCLE_ABSENT, now);
	free(e->held);
	e->held = NULL;
	e->n_held = e->n_joined = 0;
	e->is_given_up = false;
	a->of[e->number] = FAB_NONE;
	e->number = FAB_NONE;
	a->n_active--;
}

static void give_up(struct fab_announced *a, struct entry *e, double now,
		    struct fab_announced_order *o, const char *reason)
{
	enter(a, e, FAB_LIFECYCLE_ABSENT, now);
	e->is_given_up = true;
	*o = (struct fab_announced_order){.reason = reason};
}

/* The members, ascending, each once. */
static void list_members(struct fab_announced *a, const struct fab_announced_group *g)
{
	size_t n = 0;

	a->members.n = 0;
	FAB_RESERVE(&a->members, (size_t)g->n + 1);
	for (uint32_t i = 0; i < g->n; i++)
		a->members.v[i] = g->guid[i];
	qsort(a->members.v, g->n, sizeof(*a->members.v), fab_cmp_u64);
	for (uint32_t i = 0; i < g->n; i++)
		if (!n || a->members.v[i] != a->members.v[n - 1])
			a->members.v[n++] = a->members.v[i];
	a->members.n = n;
}

static bool is_all_held(const struct fab_announced *a, const struct entry *e)
{
	for (size_t i = 0; i < a->members.n; i++)
		if (!bsearch(&a->members.v[i], e->held, e->n_held, sizeof(*e->held),
			     fab_cmp_u64))
			return false;
	return true;
}

static void receive_joins(struct fab_announced *a, struct entry *e, uint64_t pass,
			  double now, struct fab_announced_order *o)
{
	size_t n = a->members.n;

	o->tree = FAB_ANNOUNCED_NONE;
	if (n > e->count) {
		give_up(a, e, now, o, "has more members than were announced");
		return;
	}
	if (n < e->count)
		return;
	e->held = FAB_NEW(n, uint64_t);
	memcpy(e->held, a->members.v, n * sizeof(*e->held));
	e->n_held = (uint32_t)n;
	e->n_computed++;
	e->pass = pass;
	enter(a, e, FAB_LIFECYCLE_COMPUTING, now);
	o->is_first = true;
}

/* The group has a tree. */
static void keep(struct fab_announced *a, struct entry *e, double now,
		 struct fab_announced_order *o)
{
	bool is_full = a->members.n == e->n_held;

	if (!is_all_held(a, e)) {
		give_up(a, e, now, o, "was joined by a port after its tree was computed");
		return;
	}
	if (e->state == FAB_LIFECYCLE_READY && !is_full)
		enter(a, e, FAB_LIFECYCLE_RECEIVING_LEAVE, now);
	else if (e->state == FAB_LIFECYCLE_RECEIVING_LEAVE && is_full)
		enter(a, e, FAB_LIFECYCLE_READY, now);
	o->tree = FAB_ANNOUNCED_HELD;
	o->guid = e->held;
	o->n = e->n_held;
}

struct fab_announced_order fab_announced_decide(struct fab_announced *a,
						const struct fab_announced_group *g,
						double now)
{
	struct fab_announced_order o = {.tree = FAB_ANNOUNCED_ANY};
	struct entry *e = g->mgid && g->n ? find(a, g->mgid) : NULL;
	uint32_t before = a->of[g->number];
	/* else the tree is of a group that had the number before */
	bool has_tree = g->has_tree && g->mgid &&
			!memcmp(&a->seen[g->number], g->mgid, sizeof(*g->mgid));

	a->seen[g->number] = g->mgid ? *g->mgid : (struct fab_mgid){{0}};

	/* another group, or none, under a number that one had */
	if (before != FAB_NONE && &a->all.v[before] != e)
		end(a, &a->all.v[before], now);
	if (!e)
		return o;
	if (e->number != FAB_NONE && e->number != g->number)
		end(a, e, now);
	list_members(a, g);
	if (e->number == FAB_NONE) {
		if (!e->announced)
			return o;
		e->number = g->number;
		a->of[g->number] = (uint32_t)(e - a->all.v);
		a->n_active++;
		e->count = e->announced;
		e->timeout_s = e->announced_timeout_s;
		e->n_history = 0;
		if (has_tree)
			give_up(a, e, now, &o, "had a tree when it was announced");
		else
			enter(a, e, FAB_LIFECYCLE_RECEIVING_JOIN, now);
	}
	a->is_changed |= e->n_joined != a->members.n;
	e->n_joined = (uint32_t)a->members.n;
	if (e->is_given_up)
		return o;
	if (e->state == FAB_LIFECYCLE_RECEIVING_JOIN)
		receive_joins(a, e, g->pass, now, &o);
	if (e->state == FAB_LIFECYCLE_DESTROYING)
		o.tree = FAB_ANNOUNCED_NONE;
	else if (e->state != FAB_LIFECYCLE_RECEIVING_JOIN && !e->is_given_up)
		keep(a, e, now, &o);
	return o;
}

bool fab_announced_is_active(const struct fab_announced *a, uint32_t number)
{
	return a->of[number] != FAB_NONE;
}

uint32_t fab_announced_n_active(const struct fab_announced *a)
{
	return a->n_active;
}

bool fab_announced_is_computing(const struct fab_announced *a)
{
	return a->n_computing;
}

uint32_t fab_announced_computing(struct fab_announced *a, uint64_t pass, uint32_t max,
				 uint32_t *number)
{
	size_t from = a->looked_at;
	uint32_t n = 0;

	for (size_t i = 0; i < a->all.n && n < max && n < a->n_computing; i++) {
		const struct entry *e = &a->all.v[(from + i) % a->all.n];

		if (e->state != FAB_LIFECYCLE_COMPUTING || e->pass >= pass)
			continue;
		number[n++] = e->number;
		a->looked_at = (from + i + 1) % a->all.n;
	}
	return n;
}

void fab_announced_note_held(struct fab_announced *a, uint32_t number, uint64_t pass,
			     double now)
{
	struct entry *e = a->of[number] == FAB_NONE ? NULL : &a->all.v[a->of[number]];

	if (!e || e->state != FAB_LIFECYCLE_COMPUTING || e->pass >= pass)
		return;
	enter(a, e, FAB_LIFECYCLE_READY, now);
	/* members that left meanwhile */
	if (e->n_joined < e->n_held)
		enter(a, e, FAB_LIFECYCLE_RECEIVING_LEAVE, now);
}

double fab_announced_due(const struct fab_announced *a, double now)
{
	return fmax(0, a->due_at - now);
}

uint32_t fab_announced_expire(struct fab_announced *a, double now, uint32_t *number)
{
	uint32_t n = 0;

	if (now < a->due_at)
		return 0;
	a->due_at = INFINITY;
	for (size_t i = 0; i < a->all.n; i++) {
		struct entry *e = &a->all.v[i];

		if (e->number == FAB_NONE || !is_timed(e))
			continue;
		if (now < ends_at(e)) {
			a->due_at = fmin(a->due_at, ends_at(e));
			continue;
		}
		enter(a, e, FAB_LIFECYCLE_DESTROYING, now);
		number[n++] = e->number;
	}
	return n;
}

bool fab_announced_is_changed(const struct fab_announced *a)
{
	return a->is_changed;
}

static void print_entry(const struct entry *e, double offset, FILE *out)
{
	char mgid[INET6_ADDRSTRLEN], mlid[16] = "-";
	bool has_life = e->number != FAB_NONE;

	inet_ntop(AF_INET6, e->mgid.raw, mgid, sizeof(mgid));
	if (has_life)
		snprintf(mlid, sizeof(mlid), "0x%04x", MLID_START + e->number);
	fprintf(out, "%s %s %u/%u %s %llu", mgid, mlid, e->n_joined,
		has_life ? e->count : e->announced,
		e->is_given_up ? "given-up" : fab_lifecycle_state_name(e->state),
		(unsigned long long)e->n_computed);
	for (unsigned h = 0; h < e->n_history; h++)
		fprintf(out, " %s=%.6f",
			e->is_given_up && h + 1 == e->n_history
				? "given-up"
				: fab_lifecycle_state_name(e->history[h].state),
			e->history[h].at + offset);
	fputc('\n', out);
}

size_t fab_announced_print(struct fab_announced *a, size_t from, size_t n, double offset,
			   FILE *out)
{
	size_t end = from + n < a->all.n ? from + n : a->all.n;

	if (!from)
		a->is_changed = false;
	for (size_t i = from; i < end; i++)
		print_entry(&a->all.v[i], offset, out);
	return end < a->all.n ? end : 0;
}
