/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where boxes and the switches in them lie: rows by rank, a ring where there are no
 * ranks; inside a box rows by rank, as large as they can be.
 */
#include <math.h>
#include <stdlib.h>

#include "base/text.h"
#include "export/drawing_impl.h"

static struct spot inner(struct spot s, double by)
{
	return (struct spot){s.x + by, s.y + by, s.w - 2 * by, s.h - 2 * by};
}

static double pitch_of(uint32_t n)
{
	return fmin(fmax((double)ROW / n, LEAST_PITCH), MOST_PITCH);
}

/* Rows of boxes, the highest rank on top. */
static void place_rows(struct fab_drawing *d)
{
	const struct fab_box *v = d->boxes.v;
	uint32_t n = d->boxes.n;
	double y = MARGIN, gap;

	d->width = 560;
	for (uint32_t i = 0, end; i < n; i = end) {
		uint32_t in_row;

		for (end = i; end < n && v[d->order[end]].rank == v[d->order[i]].rank;)
			end++;
		in_row = end - i < MOST_IN_ROW ? end - i : MOST_IN_ROW;
		d->width = fmax(d->width, in_row * pitch_of(in_row) + 2 * MARGIN);
	}
	gap = fmin(fmax(d->width / 9, 80), 170);
	/* ranks that are not known, the largest number, come last */
	for (int known = 1; known >= 0; known--)
		for (uint32_t end = n, i; end > 0; end = i) {
			uint32_t rank = v[d->order[end - 1]].rank, count, n_rows, per;
			double height, pitch;

			for (i = end; i > 0 && v[d->order[i - 1]].rank == rank;)
				i--;
			if ((rank != FAB_NONE) != known)
				continue;
			count = end - i;
			n_rows = (count + MOST_IN_ROW - 1) / MOST_IN_ROW;
			per = (count + n_rows - 1) / n_rows;
			pitch = pitch_of(per);
			height = pitch >= FLAT_PITCH ? FLAT_HEIGHT : TALL_HEIGHT;
			y += y > MARGIN ? gap : 0;
			for (uint32_t k = 0; k < count; k++) {
				uint32_t row = k / per, column = k % per;
				uint32_t here =
					count - row * per < per ? count - row * per : per;

				d->box[d->order[i + k]] = (struct spot){
					(d->width - here * pitch) / 2 + column * pitch +
						4,
					y + row * (height + MARGIN), pitch - 8, height};
			}
			y += n_rows * (height + MARGIN) - MARGIN;
		}
	d->height = y + MARGIN;
}

/* Without ranks: boxes in a ring, labels outside. */
static void place_ring(struct fab_drawing *d)
{
	uint32_t n = d->boxes.n;
	double radius = fmax(150, n * 1.5 * RING_BOX / (2 * M_PI));
	double middle = radius + RING_BOX + RING_LABEL;

	d->angle = FAB_ARENA_NEW(&d->arena, n, double);
	d->width = d->height = 2 * middle;
	for (uint32_t i = 0; i < n; i++) {
		double angle = 2 * M_PI * i / n - M_PI / 2;

		d->angle[d->order[i]] = angle;
		d->box[d->order[i]] =
			(struct spot){middle + radius * cos(angle) - RING_BOX / 2.0,
				      middle + radius * sin(angle) - RING_BOX / 2.0,
				      RING_BOX, RING_BOX};
	}
}

static int by_place(const void *x, const void *y, void *context)
{
	const struct fab_drawing *d = context;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	const struct fab_boxes *boxes = &d->boxes;
	int order;

	if (boxes->of_switch[a] != boxes->of_switch[b])
		return boxes->of_switch[a] < boxes->of_switch[b] ? -1 : 1;
	if (boxes->rank[a] != boxes->rank[b])
		return boxes->rank[a] > boxes->rank[b] ? -1 : 1;
	order = fab_text_natural_cmp(fab_node_name(d->f, a), fab_node_name(d->f, b));
	return order ? order : (a > b) - (a < b);
}

/* Rows that n switches take, of those of each rank `per` in a row. */
static uint32_t count_rows(const struct fab_drawing *d, const uint32_t *sw, uint32_t n,
			   uint32_t per)
{
	uint32_t rows = 0;

	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && d->boxes.rank[sw[end]] == d->boxes.rank[sw[i]];)
			end++;
		rows += (end - i + per - 1) / per;
	}
	return rows;
}

/* The switches of a box in rows by rank, as large as they can be. */
static void place_inside(struct fab_drawing *d, const uint32_t *sw, uint32_t n)
{
	struct spot area = inner(d->box[d->boxes.of_switch[sw[0]]], n > 1 ? 2 : 0);
	uint32_t best = 1, row = 0;
	double most = 0, cell_w, cell_h;

	for (uint32_t per = 1; per <= n; per++) {
		double size = fmin(area.w / per, 3 * area.h / count_rows(d, sw, n, per));

		if (size > most) {
			most = size;
			best = per;
		}
		if (area.w / per < most)
			break;
	}
	cell_w = area.w / best;
	cell_h = area.h / count_rows(d, sw, n, best);
	for (uint32_t i = 0, column = 0; i < n; i++, column++) {
		bool is_next = i && d->boxes.rank[sw[i]] != d->boxes.rank[sw[i - 1]];

		if (column == best || is_next) {
			column = 0;
			row++;
		}
		d->sw[sw[i]] = inner((struct spot){area.x + column * cell_w,
						   area.y + row * cell_h, cell_w, cell_h},
				     n > 1 ? 0.06 * fmin(cell_w, cell_h) : 0);
	}
}

void fab_drawing_place(struct fab_drawing *d)
{
	uint32_t n = d->f->n_switches;
	uint32_t *sw = fab_arena_sorted(&d->arena, n, by_place, d);

	d->order = fab_boxes_sort(&d->boxes);
	if (d->boxes.has_ranks || d->boxes.n < 3)
		place_rows(d);
	else
		place_ring(d);
	for (uint32_t i = 0, end; i < n; i = end) {
		uint32_t box = d->boxes.of_switch[sw[i]];

		for (end = i; end < n && d->boxes.of_switch[sw[end]] == box;)
			end++;
		place_inside(d, sw + i, end - i);
	}
	d->sorted = sw;
}
