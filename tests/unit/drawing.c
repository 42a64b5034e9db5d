/* SPDX-License-Identifier: BSD-2-Clause */
/* The picture of a page: every switch once and in its box, every cable once, links that
 * lead somewhere, bounded size. */
#include "export/drawing.h"
#include "present/report.h"
#include "support/test.h"

struct picture {
	struct fab_drawing *d;
	char *text;
};

static void write_picture(struct picture *p)
{
	fab_drawing_settle(p->d);
	p->text = TEXT_BY(out, fab_drawing_write(p->d, out));
}

static void end(struct picture *p)
{
	fab_drawing_free(p->d);
	free(p->text);
}

struct rect {
	double x, y, w, h;
};

/* The first rectangle behind an id; false: there is no such id. */
static bool rect_of(const char *text, char letter, uint32_t id, struct rect *r)
{
	char want[32];
	const char *at;

	snprintf(want, sizeof(want), " id=\"%c%u\"", letter, id);
	at = strstr(text, want);
	at = at ? strstr(at, "<rect") : NULL;
	at = at ? strstr(at, " x=\"") : NULL;
	return at && sscanf(at, " x=\"%lf\" y=\"%lf\" width=\"%lf\" height=\"%lf\"",
			    &r->x, &r->y, &r->w, &r->h) == 4;
}

static bool is_within(struct rect a, struct rect b)
{
	double slack = 1e-3;

	return a.x >= b.x - slack && a.y >= b.y - slack &&
	       a.x + a.w <= b.x + b.w + slack && a.y + a.h <= b.y + b.h + slack;
}

static bool do_meet(struct rect a, struct rect b)
{
	return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

static const char *const specs[] = {
	"fattree:radix=8,levels=2",    "fattree:radix=8,levels=3",
	"fattree:radix=16,levels=3",   "torus:dims=4x4,hosts=1",
	"torus:dims=8x8x4,hosts=1",    "dragonfly:a=4,p=2,h=2",
	"kfat:dims=8x8,hosts=2",       "pgft:h=2,m=4/6,w=1/2,p=1/3",
	"fattree:radix=8,levels=1",    "random:switches=90,degree=4,hosts=1,seed=3",
	"hyperx:dims=4x4x4x2,hosts=1",
};

TEST_EACH(index, FAB_COUNT(specs), drawing, everything_has_its_place)
{
	OWN(fab_fabric) *f = test_gen(specs[*index]);
	FAB_AUTO(end) struct picture p = {.d = fab_drawing_new(f)};
	OWN_HEAP struct rect *box = FAB_NEW(f->n_switches, struct rect);
	struct rect whole = {0};
	size_t n_boxes = 0;

	write_picture(&p);
	cr_assert_eq(sscanf(strstr(p.text, "viewBox"), "viewBox=\"0 0 %lf %lf\"",
			    &whole.w, &whole.h),
		     2);
	/* boxes, in the order of their numbers and of single switches */
	for (const char *at = p.text; (at = strstr(at, "<g class=\"")); at++) {
		char class[16], letter;
		uint32_t id;
		struct rect r;
		bool is_inside = false;

		if (sscanf(at, "<g class=\"%15[a-z ]\" id=\"%c%u", class, &letter, &id) !=
			    3 ||
		    (strcmp(class, "s") != 0 && strcmp(class, "pod opens") != 0))
			continue;
		cr_assert(rect_of(p.text, letter, id, &r));
		for (size_t i = 0; i < n_boxes && *class == 's'; i++)
			is_inside |= is_within(r, box[i]);
		if (!is_inside)
			box[n_boxes++] = r;
	}
	cr_assert_leq(n_boxes, 150, "%s: %zu boxes", specs[*index], n_boxes);
	for (size_t i = 0; i < n_boxes; i++) {
		cr_assert(is_within(box[i], whole), "%s", specs[*index]);
		for (size_t k = 0; k < i; k++)
			cr_assert(!do_meet(box[i], box[k]), "%s: %zu %zu", specs[*index],
				  i, k);
	}
	for (uint32_t s = 0; s < f->n_switches; s++) {
		char id[FAB_ANCHOR_BYTES], own[32];

		cr_assert(fab_drawing_find(p.d, fab_node_name(f, s), id));
		snprintf(own, sizeof(own), " id=\"s%u\"", s);
		cr_assert_eq(count_of(p.text, own), 1);
		cr_assert(!strncmp(own + 5, id, strlen(id)) &&
			  own[5 + strlen(id)] == '"');
	}
	/* a line for each two switches that are cabled, besides one for each two boxes */
	cr_assert_eq(count_of(p.text, "<path class=\"l"),
		     f->peer_first[f->n_switches] / 2);
}

Test(drawing, load_and_marks)
{
	OWN(fab_fabric) *f = test_gen("fattree:radix=8,levels=2");
	FAB_AUTO(end) struct picture p = {.d = fab_drawing_new(f)};
	double *load = fab_drawing_load(p.d, "trees", "Trees <by> x");

	for (uint32_t c = 0; c < f->n_switch_links; c++) {
		cr_assert(isnan(load[c]));
		load[c] = c % 8;
	}
	fab_drawing_mark(p.d, FAB_TONE_BAD, "a <loop>");
	for (uint32_t c = 0; c < 4; c++)
		fab_drawing_mark_cable(p.d, c);
	fab_drawing_mark(p.d, FAB_TONE_PLAIN, "a host");
	fab_drawing_mark_node(p.d, f->n_switches);
	fab_drawing_mark(p.d, FAB_TONE_PLAIN, "nowhere");
	for (int i = 0; i < 200; i++) {
		fab_drawing_mark(p.d, FAB_TONE_PLAIN, "more");
		fab_drawing_mark_node(p.d, 0);
	}
	write_picture(&p);
	for (int k = 0; k < 8; k++) {
		char class[32];

		/* 32 cables between different switches, one more in the legend */
		snprintf(class, sizeof(class), "class=\"l%d\"", k);
		cr_assert_eq(count_of(p.text, class), 5, "%d", k);
	}
	HAS(p.text, "Trees &lt;by&gt; x:");
	cr_assert_eq(count_of(p.text, "up to "), 7);
	cr_assert_eq(count_of(p.text, "class=\"loop\""), 4);
	cr_assert_eq(count_of(p.text, "id=\"m1\""), 1);
	cr_assert_eq(count_of(p.text, "id=\"m2\""), 1);
	cr_assert_eq(count_of(p.text, "id=\"m3\""), 0);
	HAS(p.text, "<li id=\"f1\" class=\"bad\"><a href=\"#m1\">a &lt;loop&gt;</a>");
	HAS(p.text, "<li id=\"f3\">nowhere</li>");
	cr_assert_eq(count_of(p.text, "<li id="), 100);
	HAS(p.text, "and 103 more");
}

/* What is too large cannot be opened; what is marked is opened first. */
Test(drawing, size_is_bounded)
{
	OWN(fab_fabric) *f = test_gen("fattree:radix=52,levels=3");
	FAB_AUTO(end) struct picture p = {.d = fab_drawing_new(f)};
	char id[FAB_ANCHOR_BYTES];
	uint32_t last = test_switch(f, "leaf-1351"), first = test_switch(f, "leaf-700");

	fab_drawing_mark(p.d, FAB_TONE_BAD, "here");
	fab_drawing_mark_node(p.d, last);
	write_picture(&p);
	cr_assert_lt(strlen(p.text), 5000000);
	cr_assert(fab_drawing_find(p.d, "leaf-1351", id));
	cr_assert(*id == 's' && strtoul(id + 1, NULL, 10) == last, "%s", id);
	HAS(p.text, "Too many switches and cables to be opened");
	cr_assert(fab_drawing_find(p.d, fab_node_name(f, first), id));
	cr_assert_eq(id[0], 'p', "%s", id);
	cr_assert_not(fab_drawing_find(p.d, "no such switch", id));
}

Test(drawing, ranks_inside_of_a_pod)
{
	OWN(fab_fabric) *f = test_gen("fattree:radix=16,levels=3");
	FAB_AUTO(end) struct picture p = {.d = fab_drawing_new(f)};
	struct rect upper, lower;

	write_picture(&p);
	cr_assert(rect_of(p.text, 's', test_switch(f, "l2-7"), &upper));
	cr_assert(rect_of(p.text, 's', test_switch(f, "leaf-0"), &lower));
	cr_assert_leq(upper.y + upper.h, lower.y);
}

/* Switches in a part without hosts have no rank, and a row of their own; a name that two
 * have leads nowhere. */
Test(drawing, no_rank_and_no_name)
{
	struct plan plan = plan_tree(2, 1, 1);
	uint32_t a = plan_switch(&plan, "spare", 8), b = plan_switch(&plan, "spare", 8);
	OWN(fab_fabric) *f = NULL;
	FAB_AUTO(end) struct picture p;
	struct rect own[5];
	char id[FAB_ANCHOR_BYTES];

	plan_cable(&plan, a, 1, b, 1);
	f = plan_end(&plan);
	p = (struct picture){.d = fab_drawing_new(f)};
	write_picture(&p);
	cr_assert_eq(f->n_switches, 5);
	for (uint32_t s = 0; s < 5; s++) {
		cr_assert(rect_of(p.text, 's', s, &own[s]));
		cr_assert_gt(own[s].w, 0);
		for (uint32_t k = 0; k < s; k++)
			cr_assert(!do_meet(own[s], own[k]));
	}
	cr_assert_not(fab_drawing_find(p.d, "spare", id));
	cr_assert(fab_drawing_find(p.d, fab_node_name(f, 0), id));
}

Test(drawing, text_is_never_markup)
{
	static const char hostile[] =
		"<a b=\"c\" d='e'>&amp;\x1b[0m\xff\xe2\x80\xae\xc3\xa9";
	OWN_HEAP char *text = TEXT_BY(out, fab_html_put(out, hostile));

	cr_assert_str_eq(
		text,
		"&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;amp;\\x1b[0m\\xff\\xe2\\x80\\xae\xc3\xa9",
		"%s", text);
}
