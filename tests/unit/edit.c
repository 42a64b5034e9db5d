/* SPDX-License-Identifier: BSD-2-Clause */
/* Edits against a plain list of cables; edits that are undone; sentences on bad ones. */
#include "fabric/edit.h"

#include "export/fabrics.h"
#include "support/test.h"

#include <inttypes.h>

/* ---- the plain model: a list of cables ---- */

struct plug {
	uint32_t node; /* of the fabric as it was read */
	uint16_t port;
	uint8_t width, speed;
};

struct wire {
	struct plug end[2];
};

struct model {
	const struct fab_fabric *f;
	FAB_VEC(struct wire) wires;
	bool *is_gone; /* [n_nodes] */
	char *text, *undo;
	struct fab_rng rng;
	bool is_undone; /* only edits that have an opposite */
};

struct words {
	char text[100];
};

static uint32_t draw(struct model *m, size_t n)
{
	return test_below(&m->rng, n);
}

static bool is_taken(const struct model *m, uint32_t node, uint16_t port)
{
	for (size_t i = 0; i < m->wires.n; i++)
		for (int k = 0; k < 2; k++)
			if (m->wires.v[i].end[k].node == node &&
			    m->wires.v[i].end[k].port == port)
				return true;
	return false;
}

/* A free port of some switch but `other`, of 4xEDR; false: none was found. */
static bool draw_free(struct model *m, uint32_t other, struct plug *out)
{
	for (int i = 0; i < 200; i++) {
		uint32_t s = draw(m, m->f->n_switches);

		if (s == other || m->is_gone[s] || !m->f->node_n_ports[s])
			continue;
		*out = (struct plug){s, (uint16_t)(1 + draw(m, m->f->node_n_ports[s])), 4,
				     FAB_EDR};
		if (!is_taken(m, s, out->port))
			return true;
	}
	return false;
}

static struct words place(const struct model *m, const struct plug *p)
{
	struct words out;

	snprintf(out.text, sizeof(out.text), "0x%016" PRIx64 "%c%u",
		 m->f->node_guid[p->node], fab_node_is_switch(m->f, p->node) ? ':' : '/',
		 p->port);
	return out;
}

static struct words rate(const struct plug *p)
{
	struct words out;

	snprintf(out.text, sizeof(out.text), "%ux%s", p->width, fab_speed_name(p->speed));
	return out;
}

static struct words adding(const struct model *m, const struct wire *w)
{
	struct words out;

	snprintf(out.text, sizeof(out.text), "add %.30s %.30s %.30s",
		 place(m, &w->end[0]).text, place(m, &w->end[1]).text,
		 rate(&w->end[0]).text);
	return out;
}

/* An edit and what undoes it, which comes before those of earlier edits. */
static void note(struct model *m, char *edit, char *undo)
{
	fab_append(&m->text, "; ", "%s", edit);
	if (m->undo)
		fab_append(&undo, "; ", "%s", m->undo);
	free(m->undo);
	m->undo = undo;
	free(edit);
}

/* Both ends say the same rate, as an added cable does. */
static bool is_even(const struct wire *w)
{
	return w->end[0].width && w->end[0].speed && w->end[0].width == w->end[1].width &&
	       w->end[0].speed == w->end[1].speed;
}

static bool is_loop(const struct wire *w)
{
	return w->end[0].node == w->end[1].node;
}

static void draw_move(struct model *m, struct wire *w)
{
	int k = (int)draw(m, 2);
	struct plug to;
	struct words from, goes;

	if (is_loop(w) || !draw_free(m, w->end[!k].node, &to))
		return;
	from = place(m, &w->end[k]);
	goes = place(m, &to);
	note(m, fab_format("move %s %s", from.text, goes.text),
	     fab_format("move %s %s", goes.text, from.text));
	w->end[k].node = to.node;
	w->end[k].port = to.port;
}

static void draw_remove(struct model *m, struct wire *w)
{
	if (m->is_undone && (!is_even(w) || is_loop(w)))
		return;
	note(m, fab_format("remove %s", place(m, &w->end[draw(m, 2)]).text),
	     fab_strdup(adding(m, w).text));
	*w = m->wires.v[--m->wires.n];
}

static void draw_add(struct model *m)
{
	struct wire w;

	if (!draw_free(m, UINT32_MAX, &w.end[0]) ||
	    !draw_free(m, w.end[0].node, &w.end[1]))
		return;
	note(m, fab_strdup(adding(m, &w).text),
	     fab_format("remove %s", place(m, &w.end[0]).text));
	FAB_PUSH(&m->wires, w);
}

static void draw_speed(struct model *m, struct wire *w)
{
	const struct words at = place(m, &w->end[0]), old = rate(&w->end[0]);
	const uint8_t width = w->end[0].width == 12 ? 1 : 12;

	if (m->is_undone && !is_even(w))
		return;
	for (int k = 0; k < 2; k++) {
		w->end[k].width = width;
		w->end[k].speed = FAB_FDR10;
	}
	note(m, fab_format("speed %s %s", at.text, rate(&w->end[0]).text),
	     fab_format("speed %s %s", at.text, old.text));
}

static void draw_drain(struct model *m, bool removes)
{
	const uint32_t s = draw(m, m->f->n_switches);
	OWN_HEAP struct wire *left = FAB_NEW(m->wires.n, struct wire);
	OWN_HEAP char *undo = NULL;
	size_t n = 0, n_left = 0;

	for (size_t i = 0; i < m->wires.n; i++) {
		const struct wire *w = &m->wires.v[i];
		bool is_here = w->end[0].node == s || w->end[1].node == s;
		bool is_between = fab_node_is_switch(m->f, w->end[0].node) &&
				  fab_node_is_switch(m->f, w->end[1].node) && !is_loop(w);

		if (is_here && m->is_undone && !is_even(w))
			return;
		n += is_here && is_between;
		if (is_here && (removes || is_between))
			fab_append(&undo, "; ", "%s", adding(m, w).text);
		else
			left[n_left++] = *w;
	}
	if (m->is_gone[s] || !n || (removes && m->is_undone))
		return;
	memcpy(m->wires.v, left, n_left * sizeof(*left));
	m->wires.n = n_left;
	m->is_gone[s] = removes;
	note(m,
	     fab_format("%s 0x%016" PRIx64, removes ? "remove" : "drain",
			m->f->node_guid[s]),
	     fab_strdup(undo));
}

static struct model draw_model(const struct fab_fabric *f, uint64_t seed, bool is_undone)
{
	struct model m = {
		.f = f, .is_gone = FAB_NEW0(f->n_nodes, bool), .is_undone = is_undone};

	fab_rng_init(&m.rng, seed);
	for (uint32_t c = 0; c < f->n_cables; c++) {
		const uint32_t ports[2] = {f->cable_a[c], f->cable_b[c]};
		struct wire w;

		for (int k = 0; k < 2; k++)
			w.end[k] = (struct plug){
				f->port_node[ports[k]], f->port_num[ports[k]],
				f->port_width[ports[k]], f->port_speed[ports[k]]};
		FAB_PUSH(&m.wires, w);
	}
	for (int i = 0; i < 12 && m.wires.n > 2; i++) {
		struct wire *w = &m.wires.v[draw(&m, m.wires.n)];
		uint32_t kind = draw(&m, 7);

		if (kind < 2)
			draw_move(&m, w);
		else if (kind == 2)
			draw_remove(&m, w);
		else if (kind == 3)
			draw_add(&m);
		else if (kind == 4)
			draw_speed(&m, w);
		else
			draw_drain(&m, kind == 6);
	}
	return m;
}

static char *dump_of(const struct fab_fabric *f)
{
	return TEXT_BY(out, MUST(fab_export_ibnetdiscover(out, f, ERR)));
}

/* The fabric that the text of a model gives has the cables and nodes of the model. */
static void expect_model(const struct model *m)
{
	OWN(fab_fabric) *f = test_edited(m->f, m->text);
	OWN_HEAP bool *had = FAB_NEW0(m->f->n_nodes, bool);
	OWN_HEAP bool *has = FAB_NEW0(m->f->n_nodes, bool);
	OWN_HEAP uint32_t *now = FAB_NEW(m->f->n_nodes, uint32_t);
	uint32_t n = 0;

	for (size_t i = 0; i < m->wires.n; i++)
		for (int k = 0; k < 2; k++)
			has[m->wires.v[i].end[k].node] = true;
	for (uint32_t p = 0; p < m->f->n_ports; p++)
		had[m->f->port_node[p]] |= m->f->port_cable[p] != FAB_NONE;
	for (uint32_t i = 0; i < m->f->n_nodes; i++) {
		if (m->is_gone[i] || (!fab_node_is_switch(m->f, i) && had[i] && !has[i]))
			continue;
		cr_assert_lt(n, f->n_nodes, "%s", m->text);
		cr_assert_eq(f->node_guid[n], m->f->node_guid[i]);
		cr_assert_str_eq(fab_node_name(f, n), fab_node_name(m->f, i));
		now[i] = n++;
	}
	cr_assert_eq(n, f->n_nodes, "%s", m->text);
	cr_assert_eq(f->n_cables, m->wires.n, "%u cables, expected %zu: %s", f->n_cables,
		     m->wires.n, m->text);
	for (size_t i = 0; i < m->wires.n; i++)
		for (int k = 0; k < 2; k++) {
			const struct plug *x = &m->wires.v[i].end[k],
					  *y = &m->wires.v[i].end[!k];
			uint32_t at = fab_port_find(f, now[x->node], x->port), peer;

			cr_assert(at != FAB_NONE && f->port_width[at] == x->width &&
					  f->port_speed[at] == x->speed,
				  "port %u of %u: %s", x->port, x->node, m->text);
			peer = fab_port_peer(f, at);
			cr_assert(peer != FAB_NONE &&
					  f->port_node[peer] == now[y->node] &&
					  f->port_num[peer] == y->port,
				  "port %u of %u: %s", x->port, x->node, m->text);
		}
}

static void check_fabric(const struct fab_fabric *f, uint64_t seed, int n)
{
	OWN_HEAP char *before = dump_of(f);
	const int first = n == 1; /* every other one is undone: where there is one, it */

	for (int i = first; i < first + n; i++) {
		struct model m = draw_model(f, seed * 100 + (uint64_t)i, i % 2);

		if (m.text && m.wires.n)
			expect_model(&m);
		if (m.text && m.wires.n && i % 2) {
			OWN_HEAP char *both = fab_format("%s; %s", m.text, m.undo);
			OWN(fab_fabric) *back = test_edited(f, both);
			OWN_HEAP char *after = dump_of(back);

			cr_assert_str_eq(before, after, "%s", both);
		}
		free(m.wires.v);
		free(m.is_gone);
		free(m.text);
		free(m.undo);
	}
}

static const char tree[] = "fattree:radix=8,levels=3,hosts=2";
static const char *const specs[] = {
	tree,
	"pgft:m=4/4,w=1/2,p=1/2",
	"torus:dims=3x3,hosts=2",
	"mesh:dims=4x3,hosts=1",
	"dragonfly:a=4,p=2,h=2",
	"kfat:dims=4x3,hosts=2",
	"hyperx:dims=3x3,hosts=2",
	"random:switches=12,degree=4,hosts=2,seed=3",
	"bluelight",
	"taihulight",
};

TEST_EACH(index, FAB_COUNT(specs), edit, generated)
{
	OWN(fab_fabric) *f = NULL;

	/* BlueLight and TaihuLight, tens of thousands of nodes: in full only */
	if (strstr(specs[*index], "light") && !getenv("FAB_TEST_FULL"))
		return;
	f = test_gen_raw(specs[*index]);
	check_fabric(f, *index, f->n_nodes > 10000 ? 1 : 40 / TEST_SHARE);
}

/* The name of every end of a cable between switches means that end. */
static void expect_ends(const struct fab_fabric *f)
{
	const uint32_t step = 1 + f->n_switch_links * TEST_SHARE / 40;
	OWN(fab_resolver) *r = fab_resolver_new(f);

	for (uint32_t c = 0; c < f->n_switch_links; c += step) {
		const uint32_t port = f->cable_a[c];
		const struct fab_socket end = {f->port_node[port], f->port_num[port]};
		OWN_HEAP char *text = fab_editor_end_text(f, r, end);
		OWN_HEAP char *remove = fab_format("remove %s", text);
		OWN(fab_fabric) *left = test_edited(f, remove);
		uint32_t there = fab_port_find(left, end.node, end.port);

		cr_assert_null(strchr(text, '\''));
		cr_assert_eq(left->n_cables, f->n_cables - 1);
		cr_assert(there == FAB_NONE || left->port_cable[there] == FAB_NONE);
	}
}

TEST_EACH(index, DATA_N_DUMPS + 2, edit, dumps)
{
	static const char *const more[] = {"ibnetdiscover-p/exporter-test1.txt",
					   "ibsim/net"};
	OWN(fab_fabric) *f = data_open(
		*index < DATA_N_DUMPS ? data_dumps[*index] : more[*index - DATA_N_DUMPS]);

	check_fabric(f, 50 + *index, 1 + 9 / TEST_SHARE);
	expect_ends(f);
}

/* What tests/golden/edit does not say. leaf-0: ports 1, 2 hosts, 3 to 6 up, 7 and 8 free
 */
Test(edit, sentences)
{
	static const struct {
		const char *edit, *says;
	} bad[] = {
		{" ; # ", "expected move, drain, add, remove or speed"},
		{"move leaf-0:3 leaf-0:7 leaf-0:8",
		 "expected move END NEW-END, names with blanks in \"\""},
		{"move leaf-0:3 leaf-99:7", "no switch or host is called 'leaf-99'"},
		{"add leaf-0:7 leaf-1:7 4xFAST", "'4xFAST' is no rate"},
		{"add leaf-0:7 leaf-1:7 4x", "'4x' is no rate"},
		{"add leaf-0:7 leaf-1:7 HDR", "'HDR' is no rate"},
		{"add leaf-0:7 leaf-1:7; add leaf-2:7 leaf-1:7",
		 "'add leaf-2:7 leaf-1:7': 'leaf-1:7': port 7 is taken by the cable to port 7 of leaf-0; free: 8"},
		{"remove leaf-0:7", "no cable at port 7"},
		{"remove leaf-0; drain leaf-0", "was removed by an edit before"},
		{"remove leaf-0; add leaf-0:7 leaf-1:7", "was removed by an edit before"},
		{"remove h0; remove h0", "was removed by an edit before"},
		{"remove \"leaf-0:3\"",
		 "no switch, host or adapter is called 'leaf-0:3'"},
	};
	OWN(fab_fabric) *f = test_gen_raw(tree);

	for (size_t i = 0; i < FAB_COUNT(bad); i++) {
		OWN(fab_editor) *e = fab_editor_new(f);

		FAILS(fab_editor_add(e, bad[i].edit, strlen(bad[i].edit), ERR), 0,
		      bad[i].says);
	}
}

/* A host that loses its cable leaves, unless a later edit plugs it in again; blanks,
 * lines, comments and quotes. */
Test(edit, files)
{
	static const char text[] = "# tonight\n"
				   "  remove \"h0 HCA-1\"/1 ;add leaf-1:7 h0/1\t2xFDR\n"
				   "\n"
				   "MOVE \"leaf-0\":3 leaf-2:8 # a comment\n"
				   "remove h5;\n";
	OWN(fab_fabric) *f = test_gen_raw(tree);
	OWN(fab_editor) *e = fab_editor_new(f);
	OWN(fab_fabric) *out = NULL;
	uint32_t port;

	MUST(fab_editor_add_lines(e, "plan", text, strlen(text), ERR));
	cr_assert_eq(fab_editor_count(e), 4);
	MUST(fab_editor_finish(e, NULL, &out, ERR));
	HAS(out->source, " with 4 edits");
	cr_assert_eq(out->n_hosts, f->n_hosts - 1);
	port = fab_port_find(out, test_switch(out, "leaf-1"), 7);
	cr_assert_str_eq(fab_node_name(out, out->port_node[fab_port_peer(out, port)]),
			 "h0 HCA-1");
	cr_assert_eq(out->port_width[port], 2);
	cr_assert_eq(out->port_speed[port], FAB_FDR);
	FAILS(fab_editor_add_lines(e, "plan", "\nremove h9\nremove h9\n", 21, ERR), 0,
	      "plan:3: 'remove h9'");
	FAILS_AS(fab_editor_add_lines(e, "plan", "# none\n", 7, ERR), 0,
		 "plan: no edit: expected move, drain, add, remove or speed");
}

/* A name that is also that of a port is refused, but not in quotes. */
Test(edit, node_or_port)
{
	struct plan plan = {0};
	OWN(fab_fabric) *f = NULL;
	OWN(fab_fabric) *left = NULL;
	OWN(fab_editor) *e = NULL;

	plan_switch(&plan, "x", 4);
	plan_switch(&plan, "x:1", 4);
	plan_switch(&plan, "y", 4);
	plan_join(&plan, 0, 2);
	plan_join(&plan, 1, 2);
	f = plan_end(&plan);
	e = fab_editor_new(f);
	FAILS(fab_editor_add(e, "remove x:1", 10, ERR), 0, "can be a node and a port");
	left = test_edited(f, "remove \"x:1\"");
	cr_assert_eq(left->n_switches, 2);
	cr_assert_eq(left->n_cables, 1);
}

/* Without a rate a cable has that of the first cable of its first end's node. */
Test(edit, rate_of_an_added_cable)
{
	OWN(fab_fabric) *f = test_gen_raw("fattree:radix=8,levels=2,speed=NDR,width=2");
	OWN(fab_fabric) *out = test_edited(f, "remove leaf-0:7; remove leaf-3:8; "
					      "add leaf-0:7 leaf-3:8");
	uint32_t port = fab_port_find(out, test_switch(out, "leaf-3"), 8);

	cr_assert_eq(out->port_speed[port], FAB_NDR);
	cr_assert_eq(out->port_width[port], 2);
}
