/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of the graph of switches: those that ought to be joined to the rest, and planes
 * (parallel networks of the same hosts) with fewer switches, cables or hosts than the
 * other planes have. A plane with less than half of any of them is another kind of
 * network, such as one for storage: a note.
 */
#include "fabric/check_impl.h"
#include "fabric/planes.h"

#include <stdio.h>
#include <stdlib.h>

/* What a part is known by whatever the order of the input: its switch of lowest GUID. */
static struct fab_finding at_part(const struct fab_fabric *f,
				  const struct fab_planes *planes, uint32_t part)
{
	struct fab_finding at = FAB_AT_NODE(planes->v[part].first_switch);
	uint32_t lowest = at.node;

	for (uint32_t s = 0; s < f->n_switches; s++)
		if (planes->of_switch[s] == part &&
		    f->node_guid[s] < f->node_guid[lowest])
			lowest = s;
	at.key = fab_check_key_nodes(f, &lowest, 1);
	return at;
}

static void report_part(struct fab_checker *c, const struct fab_planes *planes,
			uint32_t part)
{
	const struct fab_plane *v = &planes->v[part];
	char shared[128] = "", name[FAB_PLANE_TEXT_SIZE];

	if (v->n_shared)
		snprintf(shared, sizeof(shared), "; %u of its %u host%s on %s, too",
			 v->n_shared, v->n_hosts, v->n_hosts == 1 ? " is" : "s are",
			 fab_plane_text(planes, planes->largest, name));
	fab_checker_add(c, FAB_PROBLEM, "unconnected-part", at_part(c->f, planes, part),
			"no cable joins \"%s\" to the rest of the fabric (a part of %u "
			"switch%s and %u adapter%s%s)",
			fab_node_name(c->f, v->first_switch), v->n_switches,
			v->n_switches == 1 ? "" : "es", v->n_adapters,
			v->n_adapters == 1 ? "" : "s", shared);
}

/* What the planes are compared by. */
enum measure { SWITCHES, LINKS, HOSTS, N_MEASURES };

static uint32_t measure_of(const struct fab_plane *v, enum measure m)
{
	return m == SWITCHES ? v->n_switches
	       : m == LINKS  ? v->n_switch_links
			     : v->n_hosts;
}

/* The value that most planes have; of equally common ones the largest. */
static uint32_t usual_of(const struct fab_planes *planes, enum measure m)
{
	uint32_t best = 0, n_best = 0;

	for (uint32_t i = 0; i < planes->n_planes; i++) {
		uint32_t value = measure_of(&planes->v[i], m), n = 0;

		for (uint32_t k = 0; k < planes->n_planes; k++)
			n += measure_of(&planes->v[k], m) == value;
		if (n > n_best || (n == n_best && value > best)) {
			best = value;
			n_best = n;
		}
	}
	return best;
}

/* "2 switches (of 3)" for what is less than usual. */
static int put_measure(char *out, size_t size, bool is_first, uint32_t n, uint32_t usual,
		       const char *what)
{
	if (n >= usual)
		return 0;
	return snprintf(out, size, "%s%u %s, not %u", is_first ? "" : "; ", n, what,
			usual);
}

static void check_plane(struct fab_checker *c, const struct fab_planes *planes,
			uint32_t part, const uint32_t *usual)
{
	static const char *const what[N_MEASURES] = {"switches",
						     "cables between switches", "hosts"};
	const struct fab_plane *v = &planes->v[part];
	char name[FAB_PLANE_TEXT_SIZE], text[256];
	bool is_small = false;
	size_t n = 0;

	for (enum measure m = SWITCHES; m < N_MEASURES; m++) {
		uint32_t value = measure_of(v, m);

		n += (size_t)put_measure(text + n, sizeof(text) - n, !n, value, usual[m],
					 what[m]);
		is_small |= 2 * (uint64_t)value < usual[m];
	}
	if (n)
		fab_checker_add(c, is_small ? FAB_NOTE : FAB_PROBLEM,
				is_small ? "small-plane" : "unequal-plane",
				at_part(c->f, planes, part),
				"%s, that of \"%s\", is smaller than the other%s: %s",
				fab_plane_text(planes, part, name),
				fab_node_name(c->f, v->first_switch),
				planes->n_planes > 2 ? "s" : "", text);
}

static void note_planes(struct fab_checker *c, const struct fab_planes *planes)
{
	uint32_t n_some = planes->n_hosts - planes->n_on_all;
	char some[80] = "";

	if (n_some)
		snprintf(some, sizeof(some), " (%u of %u hosts on only %s of them)",
			 n_some, planes->n_hosts, planes->n_planes == 2 ? "one" : "some");
	fab_checker_add(c, FAB_NOTE, "planes", FAB_AT_NODE(FAB_NONE),
			"the hosts are on %u planes%s, which no path joins: each is a "
			"network of its own (--hca=PATTERN chooses one, "
			"--hca=PATTERN/PORT where ports of an adapter differ)",
			planes->n_planes, some);
}

void fab_check_planes(struct fab_checker *c)
{
	struct fab_planes *planes = fab_planes_new(c->f);
	uint32_t usual[N_MEASURES];

	for (uint32_t i = planes->n_planes; i < planes->n; i++)
		report_part(c, planes, i);
	for (enum measure m = SWITCHES; m < N_MEASURES; m++)
		usual[m] = usual_of(planes, m);
	for (uint32_t i = 0; i < planes->n_planes; i++)
		check_plane(c, planes, i, usual);
	if (planes->n_planes > 1)
		note_planes(c, planes);
	if (c->f->n_left_out_switches)
		fab_checker_add(c, FAB_NOTE, "left-out", FAB_AT_NODE(FAB_NONE),
				"--hca leaves out %u switch%s, on which no adapter is "
				"left: they are not checked",
				c->f->n_left_out_switches,
				c->f->n_left_out_switches == 1 ? "" : "es");
	fab_planes_free(planes);
}
