/* SPDX-License-Identifier: BSD-2-Clause */
/* Curves of a page: every point at its place between round numbers, nothing invented. */
#include "export/curves.h"
#include "support/test.h"

static char *draw(const struct fab_curves *c)
{
	const struct fab_picture picture = {"title & co", true};

	return TEXT_BY(out, fab_curves_write(out, &picture, c, 1));
}

/* Places of the first n points, in the order of the file. */
static void places(const char *text, size_t n, double *x, double *y)
{
	for (size_t i = 0; i < n; i++) {
		const char *at = text = strstr(text, "<title>") + 1;

		while (strncmp(at, "d=\"M", 4) != 0)
			at--;
		cr_assert_eq(sscanf(at, "d=\"M%lf %lf", &x[i], &y[i]), 2);
	}
}

/* Equal steps are equally far apart, on a logarithmic axis equal ratios are. */
Test(curves, places_are_proportional)
{
	static const double x[] = {1, 10, 100, 1000}, y[] = {2, 4, 6, 8};

	for (int is_log = 0; is_log < 2; is_log++) {
		const struct fab_plot_series s = {"a", is_log ? x : y, y, 4};
		OWN_HEAP char *text = draw(&(struct fab_curves){"x", "y", .log_x = is_log,
								.series = &s, .n = 1});
		double px[4], py[4];

		places(text, 4, px, py);
		for (size_t i = 2; i < 4; i++) {
			cr_assert_float_eq(px[i] - px[i - 1], px[1] - px[0], 0.05);
			cr_assert_float_eq(py[i] - py[i - 1], py[1] - py[0], 0.05);
		}
		cr_assert(px[1] > px[0] && py[1] < py[0]);
	}
}

/* What is not finite, or not above 0 on a logarithmic axis, is no point and breaks the
 * line; fewer than two points are no curve. */
Test(curves, missing_points)
{
	static const double x[] = {1, 2, 3, 4, 5}, y[] = {1, NAN, 0, 4, 5};
	const struct fab_plot_series s = {"<a>", x, y, 5};
	const struct fab_plot_series few[] = {{"a", x, &y[1], 2}, {"b", x, y, 0}};
	OWN_HEAP char *text =
		draw(&(struct fab_curves){"x", "y", .log_y = true, .series = &s, .n = 1});
	OWN_HEAP char *none = draw(
		&(struct fab_curves){"x", "y", .log_x = true, .series = few, .n = 2});

	cr_assert_eq(count_of(text, "<title>"), 3);
	HAS(text, "&lt;a&gt;: 5, 5");
	HAS(text, "title &amp; co");
	/* of the last two points, and the sample next to the name */
	cr_assert_eq(count_of(text, "class=\"line k0\""), 2);
	cr_assert_str_eq(none, "");
}

/* Ticks are round numbers around all values; names do not cover each other. */
Test(curves, ticks_and_names)
{
	static const double x[] = {0, 97}, y[] = {3, 150}, z[] = {3, 149.99};
	static const char *const ticks[] = {">0<",  ">20<",  ">40<", ">60<",
					    ">80<", ">100<", ">150<"};
	const struct fab_plot_series s[] = {{"first", x, y, 2}, {"second", x, z, 2}};
	OWN_HEAP char *text = draw(
		&(struct fab_curves){"x", "y", .from_zero = true, .series = s, .n = 2});
	double at[2];

	for (size_t i = 0; i < FAB_COUNT(ticks); i++)
		HAS(text, ticks[i]);
	for (int i = 0; i < 2; i++) {
		const char *name = strstr(text, i ? ">second</text>" : ">first</text>");

		while (strncmp(name, "y=\"", 3) != 0)
			name--;
		cr_assert_eq(sscanf(name, "y=\"%lf\"", &at[i]), 1);
	}
	cr_assert_geq(fabs(at[1] - at[0]), 13.9);
	/* below the upper edge of the plot, which is at 40 */
	cr_assert_geq(fmin(at[0], at[1]), 43);
}

/* 0 of a logarithmic axis has a place of its own to the left of all others, and no line
 * leads there. */
Test(curves, zero_on_a_logarithmic_axis)
{
	static const double x[] = {0, 1e-4, 1e-2}, y[] = {1, 2, 3};
	const struct fab_plot_series s = {"a", x, y, 3};
	OWN_HEAP char *text = draw(&(struct fab_curves){"x", "y", .log_by_range = true,
							.series = &s, .n = 1});
	double px[3], py[3];

	places(text, 3, px, py);
	cr_assert(px[0] < px[1] - 10 && px[1] < px[2]);
	HAS(text, ">0</text>");
	HAS(text, ">0.001</text>"); /* the axis is logarithmic */
	cr_assert_eq(count_of(text, "class=\"line k0\""), 2);
}

/* Lines that coincide are dashed, each where the others are not; rings surround marks. */
Test(curves, coinciding_lines)
{
	static const double x[] = {1, 2, 3}, y[] = {1, 2, 3}, z[] = {1, 2, 9};
	const struct fab_plot_series s[] = {
		{"a", x, y, 3}, {"b", x, y, 3}, {"c", x, z, 3}};
	OWN_HEAP char *text = draw(&(struct fab_curves){"x", "y", .series = s, .n = 3});

	cr_assert_eq(count_of(text, "stroke-dasharray=\"7 14\""), 3);
	cr_assert_eq(count_of(text, "stroke-dasharray=\"7 7\""), 2);
	for (int i = 0; i < 3; i++) {
		OWN_HEAP char *dash = fab_format(
			"stroke-dasharray=\"7 14\" stroke-dashoffset=\"%d\"", -7 * i);

		cr_assert_eq(count_of(text, dash), 1, "%s", dash);
	}
	/* 6 lines, 3 samples, and marks around others: 1 + 1 + 0 of b, 2 of c */
	cr_assert_eq(count_of(text, "class=\"line k"), 6 + 3 + 3 + 2);
}

/* A file of its own stands for one point, a page does not; times end the axis. */
Test(curves, files_and_timelines)
{
	static const double one[] = {7};
	const struct fab_plot_series s = {"a", one, one, 1};
	const struct fab_curves c = {"x", "y", .series = &s, .n = 1};
	static const char *const rows[] = {"r"}, *const kinds[] = {"k<", "unused", "l"};
	static const struct fab_plot_bar bars[] = {
		{0, 0, 0, 3}, {0, 2, 3, 4}, {0, 1, 4, 4}};

	for (int is_page = 0; is_page < 2; is_page++) {
		OWN_HEAP char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		fab_curves_write(out, &(struct fab_picture){"t", is_page}, &c, 1);
		fflush(out);
		cr_assert_eq(count_of(text, "xmlns"), !is_page);
		cr_assert_eq(size > 0, !is_page);
		fab_curves_write_timeline(out, &(struct fab_picture){"t", is_page}, "s",
					  rows, 1, kinds, 3, bars, 3);
		fclose(out);
		cr_assert_eq(count_of(text, "k&lt;</text>"), 1);
		cr_assert_eq(count_of(text, "unused</text>"), 0);
		HAS(text, ">4</text>");
	}
}
