/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "present/jsonl.h"
#include "present/report.h"

static const struct fab_column columns[] = {
	{"algorithm", FAB_TEXT, "name of the algorithm", 0},
	{"max_efi", FAB_UINT, "largest EFI of a cable", 0},
	{"mean_efi", FAB_REAL, "mean over the cables", 0},
	{"verified", FAB_BOOL, "trees were verified", 0},
	{"root", FAB_GUID, "GUID of the root switch", 0},
	{"seconds.trees", FAB_REAL, "time for the trees, s", 0},
	{"seconds.total", FAB_REAL, "time in all, s", 0},
	{"lower_bound", FAB_UINT, "no tree set can do better",
	 FAB_COL_EXTRA | FAB_COL_NULL_ZERO},
};

static const union fab_cell plain[] = {
	{.text = "fulb"}, {.u = 7},	 {.real = 0.1}, {.u = 1},
	{.u = 0x2c903},	  {.real = 0.5}, {.real = 2.0}, {.u = 0},
};
/* a name that steers the terminal, breaks CSV and is no UTF-8; numbers at the limits */
static const union fab_cell hostile[] = {
	{.text = "\x1b[31m\"x\", y\n\xff"},
	{.u = UINT64_MAX},
	{.real = NAN},
	{.u = 0},
	{.u = UINT64_MAX},
	{.real = INFINITY},
	{.real = 1e-7},
	{.u = 12},
};
static const union fab_cell missing[] = {
	{.text = NULL}, {.u = 0},	{.real = 1234567.8}, {.u = 1},
	{.u = 0},	{.real = -0.0}, {.real = 1.0 / 3},   {.u = 0},
};

static const struct fab_column fields[] = {
	{"groups", FAB_UINT, NULL, 0},
	{"shape", FAB_TEXT, NULL, 0},
	{"fabric.note", FAB_TEXT, NULL, 0},
	{"unknown", FAB_UINT, NULL, FAB_COL_EXTRA},
};
static const struct fab_column other[] = {{"cable", FAB_TEXT, NULL, 0}};

static void fill(struct fab_report *r)
{
	fab_report_field(r, &fields[0], (union fab_cell){.u = 260});
	fab_report_field(r, &fields[1], (union fab_cell){.text = NULL});
	fab_report_table_begin(r, "results", "Algorithms", columns, FAB_COUNT(columns));
	fab_report_row(r, plain);
	fab_report_row(r, hostile);
	fab_report_row(r, missing);
	fab_report_table_end(r);
	fab_report_table_begin(r, "fullest", "Fullest cables", other, FAB_COUNT(other));
	fab_report_table_end(r);
	fab_report_field(r, &fields[2], (union fab_cell){.text = "a\\b"});
	fab_report_field(r, &fields[3], (union fab_cell){.u = 3});
}

/* The document in memory; the caller frees. */
static char *print(struct fab_report_options options, const struct fab_fabric *fabric)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct fab_err err;
	struct fab_report *r =
		fab_report_new(out, &options, "fabric-test", "results", fabric);

	fill(r);
	cr_assert_eq(fab_report_finish(r, &err), 0);
	fclose(out);
	return text;
}

Test(present, table)
{
	char *text = print((struct fab_report_options){.format = FAB_FORMAT_TABLE}, NULL);

	cr_assert_str_eq(
		text,
		"Algorithms\n"
		"algorithm                           max_efi mean_efi verified           "
		"    root "
		"seconds.trees seconds.total\n"
		"fulb                                      7      0.1      yes "
		"0x000000000002c903 "
		"          0.5             2\n"
		"\\x1b[31m\"x\", y\\x0a\\xff 18446744073709551615        -       no "
		"0xffffffffffffffff             -         1e-07\n"
		"-                                         0  1234568      yes "
		"0x0000000000000000 "
		"           -0        0.3333\n"
		"\n"
		"groups  260\n"
		"shape   -\n"
		"\n"
		"Fullest cables\n"
		"(none)\n"
		"\n"
		"fabric  note a\\b\n",
		"%s", text);
	free(text);
}

/* Fields are the document itself where there is no primary table. */
Test(present, fields_come_first_without_a_primary_table)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct fab_report_options options = {.format = FAB_FORMAT_TABLE};
	struct fab_report *r = fab_report_new(out, &options, "fabric-test", "none", NULL);

	fab_report_text(r, "fabric.source", "MF0;a:M/U1");
	fab_report_text(r, "other.source", "b");
	fab_report_table_begin(r, "fullest", "Fullest cables", other, FAB_COUNT(other));
	fab_report_table_end(r);
	fab_report_text(r, "other.source", "c");
	fab_report_text(r, "other.x_y", "d");
	cr_assert_eq(fab_report_finish(r, NULL), 0);
	fclose(out);
	cr_assert_str_eq(text, "source        a\n"
			       "other source  b\n"
			       "\n"
			       "Fullest cables\n"
			       "(none)\n"
			       "\n"
			       "other  source c, x y d\n");
	free(text);
}

Test(present, table_without_header_and_with_chosen_columns)
{
	char *text = print((struct fab_report_options){.format = FAB_FORMAT_TABLE,
						       .columns = "lower_bound,algorithm",
						       .no_header = true},
			   NULL);
	static const char *const rows = " - fulb\n12 \\x1b[31m\"x\", y\\x0a\\xff\n"
					" - -\n\ngroups  260\n";

	cr_assert(strstr(text, rows), "%s", text);
	cr_assert_not(strstr(text, "algorithm"), "%s", text);
	cr_assert_not(strstr(text, "Fullest"), "%s", text);
	free(text);
}

Test(present, table_fits_the_terminal_and_colours_only_there)
{
	static const struct fab_column wide[] = {{"name", FAB_TEXT, NULL, 0},
						 {"n", FAB_UINT, NULL, 0}};
	char name[301], *text = NULL;
	size_t size;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (unsigned width = 0; width <= 80; width += 40) {
		struct fab_report_options options = {.width = width, .color = width > 0};
		FILE *out = open_memstream(&text, &size);
		struct fab_report *r = fab_report_new(out, &options, "c", "t", NULL);

		fab_report_table_begin(r, "t", "T", wide, FAB_COUNT(wide));
		fab_report_row(r, (union fab_cell[]){{.text = name}, {.u = 5}});
		cr_assert_eq(fab_report_finish(r, NULL), 0);
		fclose(out);
		cr_assert_eq(strstr(text, name) != NULL, width == 0, "%u: %s", width,
			     text);
		cr_assert_eq(strchr(text, '\033') != NULL, width > 0, "%u: %s", width,
			     text);
		if (width) {
			const char *row = strstr(text, "xxx");

			cr_assert_eq(strcspn(row, "\n"), width, "%u: %s", width, text);
		}
		free(text);
	}
}

/* `n_rows` rows of eight numbers below a name, for a terminal. */
static char *print_numbers(unsigned width, unsigned n_rows)
{
	static const struct fab_column wide[] = {
		{"name", FAB_TEXT, NULL, 0},
		{"first_number", FAB_UINT, NULL, 0},
		{"second_number", FAB_UINT, NULL, 0},
		{"third_number", FAB_UINT, NULL, 0},
	};
	struct fab_report_options options = {.width = width};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct fab_report *r = fab_report_new(out, &options, "c", "t", NULL);

	fab_report_table_begin(r, "t", "T", wide, FAB_COUNT(wide));
	for (uint64_t i = 1; i <= n_rows; i++)
		fab_report_row(r, (union fab_cell[]){{.text = i % 2 ? "odd" : "even"},
						     {.u = i},
						     {.u = 10 * i},
						     {.u = 100 * i}});
	cr_assert_eq(fab_report_finish(r, NULL), 0);
	fclose(out);
	return text;
}

Test(present, short_table_is_turned_when_it_is_too_wide)
{
	static const struct {
		unsigned width, n_rows;
		const char *text;
	} cases[] = {
		{44, 2,
		 "T\n"
		 "name first_number second_number third_number\n"
		 "odd             1            10          100\n"
		 "even            2            20          200\n"},
		{43, 2,
		 "T\n"
		 "name          odd even\n"
		 "first_number    1    2\n"
		 "second_number  10   20\n"
		 "third_number  100  200\n"},
	};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		char *text = print_numbers(cases[i].width, cases[i].n_rows);

		cr_assert_str_eq(text, cases[i].text, "%u: %s", cases[i].width, text);
		free(text);
	}
	for (unsigned n_rows = 11; n_rows < 16; n_rows++) {
		char *text = print_numbers(10, n_rows);

		/* turned, eleven rows would be wider still; many are never turned */
		cr_assert(strstr(text, "first_number second_number"), "%s", text);
		free(text);
	}
}

Test(present, csv)
{
	char *text = print((struct fab_report_options){.format = FAB_FORMAT_CSV}, NULL);

	cr_assert_str_eq(
		text, "algorithm,max_efi,mean_efi,verified,root,seconds_trees,"
		      "seconds_total,lower_bound\r\n"
		      "fulb,7,0.1,true,0x000000000002c903,0.5,2,\r\n"
		      "\"\\x1b[31m\"\"x\"\", y\\x0a\\xff\",18446744073709551615,,false,"
		      "0xffffffffffffffff,,1e-07,12\r\n"
		      ",0,1.23457e+06,true,0x0000000000000000,-0,0.333333,\r\n");
	free(text);
}

Test(present, csv_chosen_columns)
{
	char *text = print((struct fab_report_options){.format = FAB_FORMAT_CSV,
						       .columns = "seconds_total,root",
						       .no_header = true},
			   NULL);

	cr_assert_str_eq(text, "2,0x000000000002c903\r\n1e-07,0xffffffffffffffff\r\n"
			       "0.333333,0x0000000000000000\r\n");
	free(text);
}

Test(present, json)
{
	struct fab_fabric fabric = {.n_switches = 3, .n_adapters = 4};
	char source[] = "x.topo";
	char *text;
	json_t *doc, *row, *part;
	json_error_t error;

	fabric.source = source;
	text = print((struct fab_report_options){.format = FAB_FORMAT_JSON}, &fabric);
	doc = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	cr_assert(doc, "%s in %s", error.text, text);
	cr_assert_eq(json_integer_value(json_object_get(doc, "schema")), 1);
	cr_assert_str_eq(json_string_value(json_object_get(doc, "command")),
			 "fabric-test");
	cr_assert_str_eq(json_string_value(json_object_get(doc, "version")), FAB_VERSION);
	cr_assert_eq(json_integer_value(json_object_get(doc, "groups")), 260);
	cr_assert(json_is_null(json_object_get(doc, "shape")));
	part = json_object_get(doc, "fabric");
	cr_assert_str_eq(json_string_value(json_object_get(part, "source")), "x.topo");
	cr_assert_eq(strlen(json_string_value(json_object_get(part, "fingerprint"))), 18);
	cr_assert_eq(json_integer_value(json_object_get(part, "adapters")), 4);
	cr_assert_str_eq(json_string_value(json_object_get(part, "note")), "a\\b");
	cr_assert_eq(json_array_size(json_object_get(doc, "fullest")), 0);
	cr_assert_eq(json_array_size(json_object_get(doc, "results")), 3);

	row = json_array_get(json_object_get(doc, "results"), 1);
	cr_assert_str_eq(json_string_value(json_object_get(row, "algorithm")),
			 "\\x1b[31m\"x\", y\\x0a\\xff");
	cr_assert_str_eq(json_string_value(json_object_get(row, "max_efi")),
			 "18446744073709551615");
	cr_assert_str_eq(json_string_value(json_object_get(row, "root")),
			 "0xffffffffffffffff");
	cr_assert(json_is_null(json_object_get(row, "mean_efi")));
	cr_assert(json_is_false(json_object_get(row, "verified")));
	part = json_object_get(row, "seconds");
	cr_assert(json_is_null(json_object_get(part, "trees")));
	cr_assert_float_eq(json_real_value(json_object_get(part, "total")), 1e-7, 1e-13);
	row = json_array_get(json_object_get(doc, "results"), 2);
	cr_assert(json_is_null(json_object_get(row, "algorithm")));
	cr_assert(json_is_null(json_object_get(row, "lower_bound")));
	json_decref(doc);
	cr_assert(strstr(text, "\"mean_efi\": 0.1,"), "%s", text);
	free(text);
}

Test(present, json_keeps_order_and_chosen_columns)
{
	char *text = print((struct fab_report_options){.format = FAB_FORMAT_JSON,
						       .columns = "max_efi,algorithm"},
			   NULL);

	cr_assert_str_eq(text,
			 "{\n  \"schema\": 1,\n  \"command\": \"fabric-test\",\n"
			 "  \"version\": \"" FAB_VERSION "\",\n"
			 "  \"groups\": 260,\n  \"shape\": null,\n"
			 "  \"results\": [\n"
			 "    {\"max_efi\": 7, \"algorithm\": \"fulb\"},\n"
			 "    {\"max_efi\": \"18446744073709551615\", \"algorithm\": "
			 "\"\\\\x1b[31m\\\"x\\\", y\\\\x0a\\\\xff\"},\n"
			 "    {\"max_efi\": 0, \"algorithm\": null}\n"
			 "  ],\n  \"fullest\": [],\n"
			 "  \"fabric\": {\"note\": \"a\\\\b\"},\n"
			 "  \"unknown\": 3\n}\n");
	free(text);
}

Test(present, full_disk_is_an_error_in_every_format)
{
	for (int format = FAB_FORMAT_TABLE; format <= FAB_FORMAT_CSV; format++) {
		struct fab_report_options options = {.format = (enum fab_format)format};
		FILE *out = fopen("/dev/full", "w");
		struct fab_err err = {""};
		struct fab_report *r;

		cr_assert(out);
		r = fab_report_new(out, &options, "c", "results", NULL);
		for (int i = 0; i < 200; i++) /* more than stdio keeps back */
			fill(r);
		cr_assert_eq(fab_report_finish(r, &err), -ENOSPC, "format %d", format);
		cr_assert(strstr(err.text, strerror(ENOSPC)), "%s", err.text);
		fclose(out);
	}
}

Test(present, columns_are_checked_and_listed)
{
	struct fab_err err = {""};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	cr_assert_eq(fab_columns_check(NULL, columns, FAB_COUNT(columns), &err), 0);
	cr_assert_eq(fab_columns_check("root,seconds.total,seconds_trees", columns,
				       FAB_COUNT(columns), &err),
		     0);
	cr_assert_eq(fab_columns_check("root,rot", columns, FAB_COUNT(columns), &err),
		     -EINVAL);
	cr_assert(strstr(err.text, "'rot'") && strstr(err.text, "seconds.total"), "%s",
		  err.text);
	cr_assert_eq(fab_columns_check("", columns, FAB_COUNT(columns), &err), -EINVAL);
	cr_assert_eq(fab_columns_check("root,", columns, FAB_COUNT(columns), &err),
		     -EINVAL);
	cr_assert_eq(fab_columns_check("\x1b[2J", columns, FAB_COUNT(columns), &err),
		     -EINVAL);
	cr_assert(strstr(err.text, "\\x1b[2J"), "%s", err.text);
	fab_columns_list(out, columns, FAB_COUNT(columns));
	fclose(out);
	cr_assert(strstr(text, "algorithm      name of the algorithm\n"), "%s", text);
	cr_assert(strstr(text, "lower_bound    no tree set can do better (in a table "
			       "only when asked for)\n"),
		  "%s", text);
	free(text);
}

Test(present, json_lines)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (int i = 0; i < 2; i++) {
		json_t *object = json_object();

		json_object_set_new(object, "group", fab_json_text("g\xff\n"));
		json_object_set_new(object, "root", fab_json_guid(0xab));
		json_object_set_new(object, "big",
				    fab_json_uint((UINT64_C(1) << 53) + (uint64_t)i));
		json_object_set_new(object, "none", fab_json_text(NULL));
		cr_assert_eq(fab_jsonl_write(out, object, NULL), 0);
	}
	fclose(out);
	cr_assert_str_eq(text,
			 "{\"group\":\"g\\\\xff\\\\x0a\",\"root\":\"0x00000000000000ab\","
			 "\"big\":9007199254740992,\"none\":null}\n"
			 "{\"group\":\"g\\\\xff\\\\x0a\",\"root\":\"0x00000000000000ab\","
			 "\"big\":\"9007199254740993\",\"none\":null}\n");
	free(text);
}

Test(present, json_lines_on_a_full_disk)
{
	FILE *out = fopen("/dev/full", "w");
	struct fab_err err = {""};

	cr_assert(out);
	setvbuf(out, NULL, _IONBF, 0);
	cr_assert_eq(fab_jsonl_write(out, json_pack("{s:i}", "a", 1), &err), -ENOSPC);
	cr_assert(err.text[0]);
	fclose(out);
}

/* Rows inside a row: an array in JSON, no column in CSV. */
static char *print_rows_in_row(enum fab_format format)
{
	struct record {
		uint64_t share;
		const char *name;
	};
	static const struct fab_column inner[] = {
		{"name", FAB_TEXT, NULL, 0, FAB_AT(struct record, name)},
		{"share", FAB_UINT, NULL, 0, FAB_AT(struct record, share)}};
	static const struct fab_column outer[] = {{"algorithm", FAB_TEXT, NULL, 0},
						  {"segments", FAB_ROWS, NULL, 0}};
	static const struct record records[] = {{1, "a"}, {2, "b"}};
	const struct fab_rows two = {inner, 2, records, sizeof(*records), 2},
			      none = {inner, 2, records, sizeof(*records), 0};
	const struct fab_report_options options = {.format = format};
	struct fab_report *r;
	struct fab_err err;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	r = fab_report_new(out, &options, "fabric-test", "results", NULL);
	fab_report_table_begin(r, "results", "Results", outer, FAB_COUNT(outer));
	fab_report_row(r, (const union fab_cell[]){{.text = "x"}, {.rows = &two}});
	fab_report_row(r, (const union fab_cell[]){{.text = "y"}, {.rows = &none}});
	fab_report_table_end(r);
	cr_assert_eq(fab_report_finish(r, &err), 0);
	fclose(out);
	return text;
}

Test(present, rows_in_a_row)
{
	char *json = print_rows_in_row(FAB_FORMAT_JSON);
	char *csv = print_rows_in_row(FAB_FORMAT_CSV);

	cr_assert(strstr(json, "{\"algorithm\": \"x\", \"segments\": [{\"name\": \"a\", "
			       "\"share\": 1}, {\"name\": \"b\", \"share\": 2}]}"),
		  "%s", json);
	cr_assert(strstr(json, "{\"algorithm\": \"y\", \"segments\": []}"), "%s", json);
	cr_assert_str_eq(csv, "algorithm\r\nx\r\ny\r\n");
	free(json);
	free(csv);
}

/* Every kind of member, in another order than the columns. */
struct record {
	double real;
	bool is_so;
	uint32_t small;
	uint64_t large, unknown;
	struct fab_counts counts;
	struct fab_numbers numbers;
	const char *text;
};

#define AT(member) FAB_AT(struct record, member)
static const struct fab_column record_columns[] = {
	{"text", FAB_TEXT, NULL, 0, AT(text)},
	{"large", FAB_UINT, NULL, 0, AT(large), FAB_METRIC_LESS},
	{"small", FAB_UINT, NULL, 0, AT(small)},
	{"as_number", FAB_NUMBER, NULL, 0, AT(small)},
	{"is_so", FAB_BOOL, NULL, 0, AT(is_so)},
	{"unknown", FAB_BOOL, NULL, 0, AT(unknown)},
	{"real", FAB_REAL, NULL, 0, AT(real)},
	{"counts", FAB_COUNTS, NULL, 0, AT(counts)},
	{"numbers", FAB_NUMBERS, NULL, 0, AT(numbers)},
};
#undef AT

Test(present, a_record_is_read_by_the_places_of_its_columns)
{
	static const uint64_t count[] = {0, 3};
	static const uint32_t list[] = {5, 2};
	const struct record record = {.real = 0.5,
				      .is_so = true,
				      .small = 7,
				      .large = 1ull << 40,
				      .unknown = FAB_UNKNOWN,
				      .counts = {count, 2},
				      .numbers = {list, 2},
				      .text = "t"};
	const struct fab_report_options options = {.format = FAB_FORMAT_JSON};
	static const double numbers[] = {NAN, 1099511627776.0, 7, 7, 1, NAN, 0.5, NAN,
					 NAN};
	struct fab_report *r;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	r = fab_report_new(out, &options, "fabric-test", "results", NULL);
	fab_report_table_begin(r, "results", "Results", record_columns,
			       FAB_COUNT(record_columns));
	fab_report_record(r, &record);
	fab_report_table_end(r);
	cr_assert_eq(fab_report_finish(r, NULL), 0);
	fclose(out);
	cr_assert(strstr(text,
			 "{\"text\": \"t\", \"large\": 1099511627776, \"small\": 7, "
			 "\"as_number\": 7, \"is_so\": true, \"unknown\": null, "
			 "\"real\": 0.5, \"counts\": {\"1\": 3}, \"numbers\": [5, 2]}"),
		  "%s", text);
	free(text);
	for (size_t i = 0; i < FAB_COUNT(record_columns); i++) {
		double number = fab_column_number(&record_columns[i], &record);

		cr_assert(isnan(numbers[i]) ? isnan(number) : number == numbers[i],
			  "%s: %g", record_columns[i].name, number);
	}
}
