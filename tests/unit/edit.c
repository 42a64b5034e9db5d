/* SPDX-License-Identifier: BSD-2-Clause */
/* Edits against a plain list of cables; edits that are undone; sentences on bad ones. */
#include "fabric/edit.h"

#include "export/fabrics.h"
#include "support/node.h"
#include "support/test.h"

#include <inttypes.h>

/* ---- the plain model: cables by GUID and port ---- */

struct plug {
	uint64_t guid;
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

static int by_place(const void *a, const void *b)
{
	const struct plug *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return x->port < y->port ? -1 : x->port > y->port;
}

static int by_wire(const void *a, const void *b)
{
	const struct wire *x = a, *y = b;

	return by_place(&x->end[0], &y->end[0]);
}

static void add_wires(struct model *m, const struct fab_fabric *f)
{
	m->wires.n = 0;
	for (uint32_t c = 0; c < f->n_cables; c++) {
		const uint32_t ports[2] = {f->cable_a[c], f->cable_b[c]};
		struct wire w;

		for (int k = 0; k < 2; k++)
			w.end[k] = (struct plug){
				f->node_guid[f->port_node[ports[k]]],
				f->port_node[ports[k]], f->port_num[ports[k]],
				f->port_width[ports[k]], f->port_speed[ports[k]]};
		FAB_PUSH(&m->wires, w);
	}
}

static void sort_wires(struct model *m)
{
	for (size_t i = 0; i < m->wires.n; i++)
		qsort(m->wires.v[i].end, 2, sizeof(struct plug), by_place);
	if (m->wires.n)
		qsort(m->wires.v, m->wires.n, sizeof(struct wire), by_wire);
}

static void model_free(struct model *m)
{
	free(m->wires.v);
	free(m->is_gone);
	free(m->text);
	free(m->undo);
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

static uint32_t draw(struct model *m, uint32_t n)
{
	return test_below(&m->rng, n);
}

/* A free port of some switch but `other`; false: none was found. */
static bool draw_free(struct model *m, uint32_t other, struct plug *out)
{
	for (int i = 0; i < 200; i++) {
		uint32_t s = draw(m, m->f->n_switches);
		uint16_t port;

		if (s == other || m->is_gone[s] || !m->f->node_n_ports[s])
			continue;
		port = (uint16_t)(1 + draw(m, m->f->node_n_ports[s]));
		if (is_taken(m, s, port))
			continue;
		*out = (struct plug){m->f->node_guid[s], s, port, 0, 0};
		return true;
	}
	return false;
}

static char *place(const struct model *m, const struct plug *p)
{
	return fab_format("0x%016" PRIx64 "%c%u", p->guid,
			  fab_node_is_switch(m->f, p->node) ? ':' : '/', p->port);
}

static char *rate(const struct plug *p)
{
	return fab_format("%ux%s", p->width, fab_speed_name(p->speed));
}

/* An edit and what undoes it, which comes before those of earlier edits. */
static void note(struct model *m, char *edit, char *undo)
{
	OWN_HEAP char *rest = m->undo;

	fab_append(&m->text, "; ", "%s", edit);
	m->undo = fab_format("%s%s%s", undo ? undo : "", rest && undo ? "; " : "",
			     rest ? rest : "");
	free(edit);
	free(undo);
}

static void take_out(struct model *m, size_t i)
{
	m->wires.v[i] = m->wires.v[--m->wires.n];
}

/* Both ends say the same rate, as an added cable does. */
static bool is_even(const struct wire *w)
{
	return w->end[0].width && w->end[0].speed && w->end[0].width == w->end[1].width &&
	       w->end[0].speed == w->end[1].speed;
}

static void draw_move(struct model *m, struct wire *w)
{
	int k = (int)draw(m, 2);
	struct plug to;
	char *from, *goes;

	if (w->end[0].node == w->end[1].node || !draw_free(m, w->end[!k].node, &to))
		return;
	from = place(m, &w->end[k]);
	goes = place(m, &to);
	note(m, fab_format("move %s %s", from, goes),
	     fab_format("move %s %s", goes, from));
	free(from);
	free(goes);
	to.width = w->end[k].width;
	to.speed = w->end[k].speed;
	w->end[k] = to;
}

static void draw_remove(struct model *m, size_t i)
{
	struct wire *w = &m->wires.v[i];
	OWN_HEAP char *a = place(m, &w->end[0]), *b = place(m, &w->end[1]),
		      *r = rate(&w->end[0]);

	if (!m->is_undone || (is_even(w) && w->end[0].node != w->end[1].node)) {
		note(m, fab_format("remove %s", draw(m, 2) ? a : b),
		     fab_format("add %s %s %s", a, b, r));
		take_out(m, i);
	}
}

static void draw_add(struct model *m)
{
	struct wire w;
	char *a, *b;

	if (!draw_free(m, UINT32_MAX, &w.end[0]) ||
	    !draw_free(m, w.end[0].node, &w.end[1]))
		return;
	for (int k = 0; k < 2; k++) {
		w.end[k].width = 4;
		w.end[k].speed = FAB_EDR;
	}
	a = place(m, &w.end[0]);
	b = place(m, &w.end[1]);
	note(m, fab_format("add %s %s 4xEDR", a, b), fab_format("remove %s", a));
	free(a);
	free(b);
	FAB_PUSH(&m->wires, w);
}

static void draw_speed(struct model *m, struct wire *w)
{
	struct wire new = *w;
	OWN_HEAP char *old_rate = rate(&w->end[0]), *new_rate = NULL,
		      *a = place(m, &w->end[0]);

	for (int k = 0; k < 2; k++) {
		new.end[k].width = w->end[0].width == 12 ? 1 : 12;
		new.end[k].speed = FAB_FDR10;
	}
	new_rate = rate(&new.end[0]);
	if (!m->is_undone || is_even(w)) {
		note(m, fab_format("speed %s %s", a, new_rate),
		     fab_format("speed %s %s", a, old_rate));
		*w = new;
	}
}

static void draw_drain(struct model *m, bool removes)
{
	uint32_t s = draw(m, m->f->n_switches);
	char *undo = NULL;
	size_t n = 0;

	for (size_t i = 0; i < m->wires.n; i++) {
		const struct wire *w = &m->wires.v[i];
		bool is_here = w->end[0].node == s || w->end[1].node == s;
		bool is_loop = w->end[0].node == w->end[1].node;
		bool is_between = fab_node_is_switch(m->f, w->end[0].node) &&
				  fab_node_is_switch(m->f, w->end[1].node);

		n += is_here && !is_loop && is_between;
		if (is_here && m->is_undone && !is_even(w))
			return;
	}
	if (m->is_gone[s] || !n || (removes && m->is_undone))
		return;
	for (size_t i = m->wires.n; i-- > 0;) {
		const struct wire w = m->wires.v[i];
		bool is_between = fab_node_is_switch(m->f, w.end[0].node) &&
				  fab_node_is_switch(m->f, w.end[1].node) &&
				  w.end[0].node != w.end[1].node;
		char *a = place(m, &w.end[0]), *b = place(m, &w.end[1]),
		     *r = rate(&w.end[0]);

		if ((w.end[0].node == s || w.end[1].node == s) &&
		    (removes || is_between)) {
			fab_append(&undo, "; ", "add %s %s %s", a, b, r);
			take_out(m, i);
		}
		free(a);
		free(b);
		free(r);
	}
	m->is_gone[s] = removes;
	note(m,
	     fab_format("%s 0x%016" PRIx64, removes ? "remove" : "drain",
			m->f->node_guid[s]),
	     undo);
}

static struct model draw_model(const struct fab_fabric *f, uint64_t seed, bool is_undone)
{
	struct model m = {.f = f,
			  .is_gone = FAB_NEW0((size_t)f->n_nodes + 1, bool),
			  .is_undone = is_undone};

	fab_rng_init(&m.rng, seed);
	add_wires(&m, f);
	for (int i = 0; i < 12 && m.wires.n > 2; i++) {
		size_t at = draw(&m, (uint32_t)m.wires.n);

		switch (draw(&m, 7)) {
		case 0:
		case 1:
			draw_move(&m, &m.wires.v[at]);
			break;
		case 2:
			draw_remove(&m, at);
			break;
		case 3:
			draw_add(&m);
			break;
		case 4:
			draw_speed(&m, &m.wires.v[at]);
			break;
		case 5:
			draw_drain(&m, false);
			break;
		default:
			draw_drain(&m, true);
		}
	}
	return m;
}

/* ---- fabrics ---- */

static const char *const specs[] = {
	"fattree:radix=8,levels=3,hosts=2",
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

static const char *const dumps[] = {
	"ibnetdiscover/ibtopotool-1.txt",     "ibnetdiscover/ibtopotool-2.txt",
	"ibnetdiscover/psmn-x5-qdr.txt",      "ibnetdiscover/selene-compute-hdr.txt",
	"ibnetdiscover/stage-qdr.txt",	      "ibnetdiscover/topograph-ndr.txt",
	"ibnetdiscover/ufm-lab-mixed.txt",    "ibnetdiscover/ufm-director-puttylog.txt",
	"ibnetdiscover-p/exporter-test1.txt", "ibsim/net",
};

static char *dump_of(const struct fab_fabric *f)
{
	return TEXT_BY(out, MUST(fab_export_ibnetdiscover(out, f, ERR)));
}

/* The fabric that the text of a model gives has the cables and nodes of the model. */
static void expect_model(struct model *m)
{
	OWN(fab_fabric) *f = test_edited(m->f, m->text);
	struct model is = {.f = f};
	OWN_HEAP bool *had = FAB_NEW0((size_t)m->f->n_nodes + 1, bool);
	OWN_HEAP bool *has = FAB_NEW0((size_t)m->f->n_nodes + 1, bool);
	uint32_t n = 0;

	for (size_t i = 0; i < m->wires.n; i++)
		for (int k = 0; k < 2; k++)
			has[m->wires.v[i].end[k].node] = true;
	for (uint32_t p = 0; p < m->f->n_ports; p++)
		had[m->f->port_node[p]] |= m->f->port_cable[p] != FAB_NONE;
	for (uint32_t i = 0; i < m->f->n_nodes; i++)
		if (!m->is_gone[i] &&
		    (fab_node_is_switch(m->f, i) || has[i] || !had[i])) {
			cr_assert_lt(n, f->n_nodes, "%s", m->text);
			cr_assert_eq(f->node_guid[n], m->f->node_guid[i]);
			cr_assert_str_eq(fab_node_name(f, n), fab_node_name(m->f, i));
			n++;
		}
	cr_assert_eq(n, f->n_nodes, "%s", m->text);
	add_wires(&is, f);
	sort_wires(&is);
	sort_wires(m);
	cr_assert_eq(is.wires.n, m->wires.n, "%zu cables, expected %zu: %s", is.wires.n,
		     m->wires.n, m->text);
	for (size_t i = 0; i < is.wires.n; i++)
		for (int k = 0; k < 2; k++) {
			const struct plug *x = &is.wires.v[i].end[k],
					  *y = &m->wires.v[i].end[k];

			cr_assert(x->guid == y->guid && x->port == y->port &&
					  x->width == y->width && x->speed == y->speed,
				  "cable %zu: %s", i, m->text);
		}
	free(is.wires.v);
}

static void expect_undone(struct model *m, const char *before)
{
	char *both = fab_format("%s; %s", m->text, m->undo);
	OWN(fab_fabric) *f = test_edited(m->f, both);
	OWN_HEAP char *after = dump_of(f);

	cr_assert_str_eq(before, after, "%s", both);
	free(both);
}

static void check_fabric(const struct fab_fabric *f, uint64_t seed, int n)
{
	OWN_HEAP char *before = dump_of(f);
	const int first = n == 1; /* every other one is undone: where there is one, it */

	for (int i = first; i < first + n; i++) {
		struct model m = draw_model(f, seed * 100 + (uint64_t)i, i % 2);

		if (m.text && m.wires.n) {
			expect_model(&m);
			if (i % 2)
				expect_undone(&m, before);
		}
		model_free(&m);
	}
}

TEST_EACH(index, FAB_COUNT(specs), edit, generated)
{
	OWN(fab_fabric) *f = NULL;

	/* BlueLight and TaihuLight, tens of thousands of nodes: in full only */
	if (strstr(specs[*index], "light") && !getenv("FAB_TEST_FULL"))
		return;
	f = test_gen_raw(specs[*index]);
	check_fabric(f, *index, f->n_nodes > 10000 ? 1 : 40 / TEST_SHARE);
}

TEST_EACH(index, FAB_COUNT(dumps), edit, dumps)
{
	OWN(fab_fabric) *f = data_open(dumps[*index]);

	check_fabric(f, 50 + *index, 1 + 9 / TEST_SHARE);
}

/* The name of every end of a cable between switches means that end. */
static void expect_ends(const struct fab_fabric *f)
{
	const uint32_t step = 1 + f->n_switch_links * TEST_SHARE / 40;
	OWN(fab_resolver) *r = fab_resolver_new(f);

	for (uint32_t c = 0; c < f->n_switch_links; c += step) {
		const uint32_t port = f->cable_a[c];
		const struct fab_socket end = {f->port_node[port], f->port_num[port]};
		char *text = fab_editor_end_text(f, r, end);
		char *remove = fab_format("remove %s", text);
		OWN(fab_fabric) *left = test_edited(f, remove);
		uint32_t there = fab_port_find(left, end.node, end.port);

		cr_assert_null(strchr(text, '\''));
		cr_assert_eq(left->n_cables, f->n_cables - 1);
		cr_assert(there == FAB_NONE || left->port_cable[there] == FAB_NONE);
		free(remove);
		free(text);
	}
}

Test(edit, names_of_ends)
{
	OWN(fab_fabric) *tree = test_gen_raw("fattree:radix=8,levels=3,hosts=2");

	expect_ends(tree);
	for (size_t i = 0; i < FAB_COUNT(dumps); i++) {
		OWN(fab_fabric) *f = data_open(dumps[i]);

		expect_ends(f);
	}
}

/* leaf-0: ports 1, 2 hosts, 3 to 6 up, 7 and 8 free; l2-0: ports 1 to 8 taken */
Test(edit, sentences)
{
	static const struct {
		const char *edit, *says;
	} bad[] = {
		{"", "no edit: expected move, drain, add, remove or speed"},
		{" ; # ", "expected move, drain, add, remove or speed"},
		{"shift leaf-0:3 leaf-0:7", "expected move, drain, add, remove or speed"},
		{"move leaf-0:3", "expected move END NEW-END"},
		{"move leaf-0:3 leaf-0:7 leaf-0:8",
		 "expected move END NEW-END, names with blanks in \"\""},
		{"move leaf-0:7 leaf-1:7", "'leaf-0:7': no cable at port 7"},
		{"move leaf-0:3 l2-0:1", "is taken by the cable to port"},
		{"move leaf-0:3 l2-0:1", "free: none"},
		{"move leaf-0:3 leaf-1:3", "free: 7-8"},
		{"move leaf-0:3 leaf-1:9", "leaf-1 has ports 1 to 8; free: 7-8"},
		{"move leaf-0:3 leaf-0:3", "has no effect"},
		{"move leaf-0:3 leaf-99:7", "no switch or host is called 'leaf-99'"},
		{"add leaf-0:7 leaf-0:8", "both ends of the cable would be in leaf-0"},
		{"add leaf-0:7 leaf-1:7 4xFAST", "'4xFAST' is no rate"},
		{"add leaf-0:7 leaf-1:7 3xHDR", "'3xHDR' is no rate"},
		{"add leaf-0:7 leaf-1:7 4x", "'4x' is no rate"},
		{"add leaf-0:7 leaf-1:7 HDR", "'HDR' is no rate"},
		{"add leaf-0:7 leaf-1:7; add leaf-2:7 leaf-1:7",
		 "'add leaf-2:7 leaf-1:7': 'leaf-1:7': port 7 is taken by the cable to port 7 of leaf-0; free: 8"},
		{"speed leaf-0:3 4xEDR; speed leaf-0:3 4xEDR", "has no effect"},
		{"drain leaf-0; drain leaf-0", "has no effect"},
		{"drain h0", "expected a switch"},
		{"remove leaf-0:7", "no cable at port 7"},
		{"remove leaf-77", "no switch, host or adapter is called 'leaf-77'"},
		{"remove leaf-0; remove leaf-0", "was removed by an edit before"},
		{"remove leaf-0; drain leaf-0", "was removed by an edit before"},
		{"remove leaf-0; add leaf-0:7 leaf-1:7", "was removed by an edit before"},
		{"remove h0; remove h0", "was removed by an edit before"},
		{"remove \"leaf-0", "expected \" at the end of a name"},
		{"remove \"leaf-0:3\"",
		 "no switch, host or adapter is called 'leaf-0:3'"},
	};
	OWN(fab_fabric) *f = test_gen_raw("fattree:radix=8,levels=3,hosts=2");

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
	OWN(fab_fabric) *f = test_gen_raw("fattree:radix=8,levels=3,hosts=2");
	OWN(fab_editor) *e = fab_editor_new(f);
	OWN(fab_fabric) *out = NULL;
	uint32_t sw, port;

	MUST(fab_editor_add_lines(e, "plan", text, strlen(text), ERR));
	cr_assert_eq(fab_editor_count(e), 4);
	MUST(fab_editor_finish(e, NULL, &out, ERR));
	HAS(out->source, " with 4 edits");
	cr_assert_eq(out->n_hosts, f->n_hosts - 1);
	sw = test_switch(out, "leaf-1");
	port = fab_port_find(out, sw, 7);
	cr_assert_neq(port, FAB_NONE);
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
	struct fab_builder *b = fab_builder_new();
	static const char *const names[] = {"x", "x:1", "y"};
	static const char bad[] = "remove x:1";
	OWN(fab_fabric) *f = NULL;
	OWN(fab_fabric) *left = NULL;
	OWN(fab_editor) *e = NULL;

	for (size_t i = 0; i < FAB_COUNT(names); i++)
		test_node(b, FAB_SWITCH, 1 + i, 4, names[i]);
	fab_builder_add_cable(b, 0, 1, 2, 1, 4, FAB_EDR);
	fab_builder_add_cable(b, 1, 1, 2, 2, 4, FAB_EDR);
	MUST(fab_builder_finish(b, "test", "generated", NULL, &f, ERR));
	e = fab_editor_new(f);
	FAILS(fab_editor_add(e, bad, strlen(bad), ERR), 0, "can be a node and a port");
	left = test_edited(f, "remove \"x:1\"");
	cr_assert_eq(left->n_switches, 2);
	cr_assert_eq(left->n_cables, 1);
}

/* Without a rate a cable has that of the first cable of its first end's node. */
Test(edit, rate_of_an_added_cable)
{
	OWN(fab_fabric) *f =
		test_gen_raw("fattree:radix=8,levels=3,hosts=2,speed=NDR,width=2");
	OWN(fab_fabric) *out = test_edited(f, "add leaf-0:7 leaf-9:8");
	uint32_t port = fab_port_find(out, test_switch(out, "leaf-9"), 8);

	cr_assert_eq(out->port_speed[port], FAB_NDR);
	cr_assert_eq(out->port_width[port], 2);
}
