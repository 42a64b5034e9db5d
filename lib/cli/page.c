/* SPDX-License-Identifier: BSD-2-Clause */
/* The page of --report: the report of the task, around a picture of its fabric. */
#include <math.h>

#include "cli/command.h"
#include "cli/faults.h"
#include "cli/internal.h"
#include "fabric/label.h"

enum { PAIRS_MARKED = 20 };

void fab_cli_draw_analysis(struct fab_drawing *d, const struct fab_fabric *f,
			   const struct fab_analysis *j, const char *by)
{
	FAB_AUTOFREE char *what =
		fab_format("Pairs on a cable, in its fuller direction, by %s", by);
	FAB_AUTOFREE char *loop = NULL;
	double *load = j->load ? fab_drawing_load(d, "pairs", what) : NULL;

	for (uint32_t a = 0; load && a < f->arc_first[f->n_switches]; a++)
		load[f->arc_cable[a]] = fmax(load[f->arc_cable[a]], (double)j->load[a]);
	if (j->cycle.n) {
		loop = fab_format("%s by %s: %zu channels that wait for each other",
				  j->is_unknown ? "Perhaps a credit loop" : "Credit loop",
				  by, j->cycle.n);
		fab_drawing_mark(d, FAB_TONE_BAD, loop);
	}
	for (size_t i = 0; i < j->cycle.n; i++)
		fab_drawing_mark_cable(
			d,
			f->arc_cable[f->arc_first[j->cycle.v[i].sw] + j->cycle.v[i].arc]);
	for (size_t i = 0; i < j->unreached.n && i < PAIRS_MARKED; i++) {
		const struct fab_pairs *p = &j->unreached.v[i];
		FAB_AUTOFREE char *text = fab_format(
			"%llu pair%s without a path by %s: %s to %s",
			(unsigned long long)p->pairs, p->pairs == 1 ? "" : "s", by,
			fab_node_name(f, p->from), fab_node_name(f, p->to));

		fab_drawing_mark(d, FAB_TONE_BAD, text);
		fab_drawing_mark_node(d, p->at == FAB_NONE ? p->from : p->at);
	}
}

void fab_cli_draw_sent(struct fab_drawing *d, const struct fab_fabric *f,
		       const double *sent, const char *unit, const char *what)
{
	double *load = fab_drawing_load(d, unit, what);
	uint32_t most = FAB_NONE;

	for (uint32_t c = 0; c < f->n_switch_links; c++) {
		load[c] = fmax(sent[f->cable_a[c]], sent[f->cable_b[c]]);
		if (load[c] > (most == FAB_NONE ? 0 : load[most]))
			most = c;
	}
	if (most != FAB_NONE) {
		bool by_a = sent[f->cable_a[most]] >= load[most];
		FAB_AUTOFREE char *name =
			fab_cable_text(f, by_a ? f->cable_a[most] : f->cable_b[most]);
		FAB_AUTOFREE char *text =
			fab_format("fullest, %.4g %s: %s", load[most], unit, name);

		fab_drawing_mark(d, FAB_TONE_PLAIN, text);
		fab_drawing_mark_cable(d, most);
	}
}

void fab_cli_mark_faults(struct fab_drawing *d, const struct fab_fabric *f,
			 const struct fab_faults *dead)
{
	for (size_t i = 0; i < dead->named.n; i++) {
		struct fab_fault fault = dead->named.v[i];
		FAB_AUTOFREE char *name = fab_fault_text(f, fault);
		FAB_AUTOFREE char *text = fab_format("dead: %s", name);

		fab_drawing_mark(d, FAB_TONE_WARN, text);
		if (fault.is_cable)
			fab_drawing_mark_cable(d, fault.id);
		else
			fab_drawing_mark_node(d, fault.id);
	}
}

/* A page while it is written. */
struct context {
	const struct fab_given *g;
	const struct fab_task *task;
	struct fab_work *w;
	struct fab_drawing *drawing; /* NULL: there is no fabric */
};

/* The plots of the task, as if asked for, as curves; those that cannot be are left out.
 */
static void put_curves(FILE *out, const struct context *c)
{
	for (const struct fab_task_file *x = c->task->files;
	     x && (x->option || x->write_all); x++) {
		struct fab_cli_plot *plot =
			x->option ? fab_given_plot(c->g, x->option) : NULL;
		FAB_AUTOFREE char *text = NULL;
		struct fab_err err;
		size_t size;
		FILE *file;
		int rc;

		if (!plot)
			continue;
		file = fab_text_stream(&text, &size);
		plot->is_in_page = true;
		rc = x->write(file, c->w, &err);
		plot->is_in_page = false;
		fclose(file);
		if (!rc && size)
			fprintf(out, "<section>\n<h2>Curves</h2>\n%s</section>\n", text);
	}
}

static void draw(FILE *out, void *context)
{
	const struct context *c = context;

	if (c->drawing)
		fab_drawing_write(c->drawing, out);
	put_curves(out, c);
}

static bool find(void *context, const char *text, char id[FAB_ANCHOR_BYTES])
{
	const struct context *c = context;

	return c->drawing && fab_drawing_find(c->drawing, text, id);
}

int fab_cli_write_page(FILE *out, const struct fab_given *g, const struct fab_task *task,
		       struct fab_work *w, struct fab_err *err)
{
	const struct fab_cli_output *output = fab_given_part(g, fab_cli_output_rows);
	const char *name = g->command->name, *source = w->f ? w->f->source : "";
	bool has_switches = w->f && w->f->n_switches;
	FAB_AUTO(fab_drawing_free_at)
	struct fab_drawing *drawing = has_switches ? fab_drawing_new(w->f) : NULL;
	struct context context = {g, task, w, drawing};
	const struct fab_page page = {
		.title = fab_arena_format(w->arena, "%s%s%s", name, *source ? " " : "",
					  source),
		.command = fab_arena_format(w->arena, "%s %s", name, g->arguments),
		.draw = draw,
		.find = find,
		.context = &context,
	};
	const struct fab_report_options options = {
		.format = FAB_FORMAT_TABLE, .columns = output->columns, .page = &page};
	struct fab_report *r;

	if (drawing && task->draw)
		task->draw(drawing, w);
	if (drawing)
		fab_drawing_settle(drawing);
	r = fab_cli_begin_report(out, &options, name, task->primary, w->f);
	task->report(r, w);
	return fab_report_finish(r, err);
}
