/* SPDX-License-Identifier: BSD-2-Clause */
/* Edits against a plain list of cables; sentences on bad ones. */
#include "fabric/edit.h"

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
	char *text;    /* the edits */
	struct fab_rng rng;
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

/* Append a verb, up to two places and a rate. */
static void note(struct model *m, const char *verb, const struct plug *a,
		 const struct plug *b, const char *rate)
{
	fab_append(&m->text, "; ", "%s", verb);
	for (const struct plug *p = a; p; p = p == a ? b : NULL)
		fab_append(&m->text, " ", "0x%016" PRIx64 "%c%u",
			   m->f->node_guid[p->node],
			   fab_node_is_switch(m->f, p->node) ? ':' : '/', p->port);
	fab_append(&m->text, " ", "%s", rate);
}

static bool is_at(const struct wire *w, uint32_t node)
{
	return w->end[0].node == node || w->end[1].node == node;
}

static bool is_between_switches(const struct model *m, const struct wire *w)
{
	return fab_node_is_switch(m->f, w->end[0].node) &&
	       fab_node_is_switch(m->f, w->end[1].node) &&
	       w->end[0].node != w->end[1].node;
}

static void draw_move(struct model *m, struct wire *w)
{
	int k = (int)draw(m, 2);
	struct plug to;

	if (w->end[0].node == w->end[1].node || !draw_free(m, w->end[!k].node, &to))
		return;
	note(m, "move", &w->end[k], &to, "");
	w->end[k].node = to.node;
	w->end[k].port = to.port;
}

static void draw_add(struct model *m)
{
	struct wire w;

	if (!draw_free(m, UINT32_MAX, &w.end[0]) ||
	    !draw_free(m, w.end[0].node, &w.end[1]))
		return;
	note(m, "add", &w.end[0], &w.end[1], "4xEDR");
	FAB_PUSH(&m->wires, w);
}

static void set_speed(struct model *m, struct wire *w)
{
	const uint8_t width = w->end[0].width == 12 ? 1 : 12;

	note(m, "speed", &w->end[0], NULL, width == 1 ? "1xFDR10" : "12xFDR10");
	for (int k = 0; k < 2; k++) {
		w->end[k].width = width;
		w->end[k].speed = FAB_FDR10;
	}
}

static void draw_drain(struct model *m, bool removes)
{
	const uint32_t s = draw(m, m->f->n_switches);
	struct wire *v = m->wires.v;
	size_t n = 0, n_left = 0;

	for (size_t i = 0; i < m->wires.n; i++)
		n += is_at(&v[i], s) && is_between_switches(m, &v[i]);
	if (m->is_gone[s] || !n)
		return;
	for (size_t i = 0; i < m->wires.n; i++)
		if (!is_at(&v[i], s) || !(removes || is_between_switches(m, &v[i])))
			v[n_left++] = v[i];
	m->wires.n = n_left;
	m->is_gone[s] = removes;
	fab_append(&m->text, "; ", "%s 0x%016" PRIx64, removes ? "remove" : "drain",
		   m->f->node_guid[s]);
}

static struct model draw_model(const struct fab_fabric *f, uint64_t seed)
{
	struct model m = {
		.f = f, .is_gone = FAB_NEW0(f->n_nodes, bool), .rng = test_rng(seed)};

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

		if (kind < 2) {
			draw_move(&m, w);
		} else if (kind == 2) {
			note(&m, "remove", &w->end[draw(&m, 2)], NULL, "");
			*w = m.wires.v[--m.wires.n];
		} else if (kind == 3) {
			draw_add(&m);
		} else if (kind == 4) {
			set_speed(&m, w);
		} else {
			draw_drain(&m, kind == 6);
		}
	}
	return m;
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
		cr_assert_eq(f->node_sys_guid[n], m->f->node_sys_guid[i]);
		cr_assert_eq(f->node_device[n], m->f->node_device[i]);
		cr_assert_str_eq(fab_node_name(f, n), fab_node_name(m->f, i));
		FAB_EACH_PORT(m->f, i, p) {
			uint32_t q = fab_port_find(f, n, m->f->port_num[p]);

			cr_assert(q == FAB_NONE ||
					  (f->port_lid[q] == m->f->port_lid[p] &&
					   f->port_guid[q] == m->f->port_guid[p]),
				  "%s", m->text);
		}
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
	for (int i = 0; i < n; i++) {
		struct model m = draw_model(f, seed * 100 + (uint64_t)i);

		if (m.text && m.wires.n)
			expect_model(&m);
		free(m.wires.v);
		free(m.is_gone);
		free(m.text);
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
		{"add leaf-0:7 leaf-1:7 4x", "'4x' is no rate"},
		{"add leaf-0:7 leaf-1:7 HDR", "'HDR' is no rate"},
		{"add leaf-0:7 leaf-1:7; add leaf-2:7 leaf-1:7",
		 "'add leaf-2:7 leaf-1:7': 'leaf-1:7': port 7 is taken by the cable to port 7 of leaf-0; free: 8"},
		{"move leaf-0:3 leaf-0:3", "the edit has no effect"},
		{"add leaf-0:7 leaf-0:8", "both ends of the cable would be in leaf-0"},
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
 * lines, comments and quotes. Without a rate a cable has that of the first cable of its
 * first end's node. */
Test(edit, files)
{
	static const char text[] = "# tonight\n"
				   "  remove \"h0 HCA-1\"/1 ;add leaf-1:7 h0/1\t2xFDR\n"
				   "\n"
				   "MOVE \"leaf-0\":3 leaf-2:8 # a comment\n"
				   "remove h5; add leaf-1:8 leaf-3:8\n";
	OWN(fab_fabric) *f =
		test_gen_raw("fattree:radix=8,levels=3,hosts=2,speed=NDR,width=12");
	OWN(fab_editor) *e = fab_editor_new(f);
	OWN(fab_fabric) *out = NULL;
	uint32_t port;

	MUST(fab_editor_add_lines(e, "plan", text, strlen(text), ERR));
	cr_assert_eq(fab_editor_count(e), 5);
	MUST(fab_editor_finish(e, NULL, &out, ERR));
	HAS(out->source, " with 5 edits");
	cr_assert_eq(out->n_hosts, f->n_hosts - 1);
	port = fab_port_find(out, test_switch(out, "leaf-1"), 7);
	cr_assert_str_eq(fab_node_name(out, out->port_node[fab_port_peer(out, port)]),
			 "h0 HCA-1");
	cr_assert(out->port_width[port] == 2 && out->port_speed[port] == FAB_FDR);
	port = fab_port_find(out, test_switch(out, "leaf-3"), 8);
	cr_assert(out->port_width[port] == 12 && out->port_speed[port] == FAB_NDR);
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
	test_counts(left, 2, 0, 1);
}
