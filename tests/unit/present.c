/* SPDX-License-Identifier: BSD-2-Clause */
/* Documents in all formats, and for people: answers first, units, and tables that cut
 * nothing at any width. */
#include <jansson.h>
#include <locale.h>

#include "base/units.h"
#include "present/jsonl.h"
#include "present/report.h"
#include "support/test.h"

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
static const char evil[] = "\x1b[31m\"x\", y\n\xff";
static const union fab_cell hostile[] = {
	{.text = evil},	   {.u = UINT64_MAX},  {.real = NAN},  {.u = 0},
	{.u = UINT64_MAX}, {.real = INFINITY}, {.real = 1e-7}, {.u = 12},
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

/* A document in memory. */
struct sheet {
	struct fab_report *r;
	FILE *out;
	char *text;
	size_t n;
};

static struct fab_report *begin(struct sheet *s, struct fab_report_options options,
				const char *primary)
{
	s->out = open_memstream(&s->text, &s->n);
	return s->r = fab_report_new(s->out, &options, "fabric-test", primary, NULL);
}

/* The caller frees the text. */
static char *end(struct sheet *s)
{
	MUST(fab_report_finish(s->r, ERR));
	fclose(s->out);
	return s->text;
}

#define OPTIONS(...) ((struct fab_report_options){__VA_ARGS__})

static char *print(struct fab_report_options options)
{
	struct sheet s;

	fill(begin(&s, options, "results"));
	return end(&s);
}

/* A primary table alone; `cells`: of n_rows rows. */
static char *print_table(struct fab_report_options options, const struct fab_column *own,
			 size_t n, const union fab_cell *cells, size_t n_rows)
{
	struct sheet s;
	struct fab_report *r = begin(&s, options, "t");

	fab_report_table_begin(r, "t", "T", own, n);
	for (size_t i = 0; i < n_rows; i++)
		fab_report_row(r, cells + i * n);
	return end(&s);
}

Test(present, whole_documents)
{
	static const struct {
		struct fab_report_options options;
		const char *text;
	} cases[] = {
		{{.format = FAB_FORMAT_TABLE},
		 "Algorithms\n"
		 "algorithm                           max_efi mean_efi verified           "
		 "    root seconds.trees seconds.total\n"
		 "fulb                                      7      0.1      yes "
		 "0x000000000002c903           0.5             2\n"
		 "\\x1b[31m\"x\", y\\x0a\\xff 18446744073709551615        -       no "
		 "0xffffffffffffffff             -         1e-07\n"
		 "-                                         0  1234568      yes "
		 "0x0000000000000000            -0        0.3333\n\n"
		 "groups  260\nshape   -\n\nFullest cables\n(none)\n\nfabric  note a\\b\n"},
		{{.format = FAB_FORMAT_CSV},
		 "algorithm,max_efi,mean_efi,verified,root,seconds_trees,seconds_total,"
		 "lower_bound\r\n"
		 "fulb,7,0.1,true,0x000000000002c903,0.5,2,\r\n"
		 "\"\\x1b[31m\"\"x\"\", y\\x0a\\xff\",18446744073709551615,,false,"
		 "0xffffffffffffffff,,1e-07,12\r\n"
		 ",0,1.23457e+06,true,0x0000000000000000,-0,0.333333,\r\n"},
		{{.format = FAB_FORMAT_JSON},
		 "{\n  \"schema\": 1,\n  \"command\": \"fabric-test\",\n"
		 "  \"version\": \"" FAB_VERSION "\",\n"
		 "  \"groups\": 260,\n  \"shape\": null,\n  \"results\": [\n"
		 "    {\"algorithm\": \"fulb\", \"max_efi\": 7, \"mean_efi\": 0.1, "
		 "\"verified\": true, \"root\": \"0x000000000002c903\", "
		 "\"seconds\": {\"trees\": 0.5, \"total\": 2.0}, "
		 "\"lower_bound\": null},\n"
		 "    {\"algorithm\": \"\\\\x1b[31m\\\"x\\\", y\\\\x0a\\\\xff\", "
		 "\"max_efi\": \"18446744073709551615\", \"mean_efi\": null, "
		 "\"verified\": false, \"root\": \"0xffffffffffffffff\", "
		 "\"seconds\": {\"trees\": null, \"total\": 1e-7}, "
		 "\"lower_bound\": 12},\n"
		 "    {\"algorithm\": null, \"max_efi\": 0, \"mean_efi\": 1234570.0, "
		 "\"verified\": true, \"root\": \"0x0000000000000000\", "
		 "\"seconds\": {\"trees\": -0.0, \"total\": 0.333333}, "
		 "\"lower_bound\": null}\n"
		 "  ],\n  \"fullest\": [],\n"
		 "  \"fabric\": {\"note\": \"a\\\\b\"},\n  \"unknown\": 3\n}\n"},
	};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN_HEAP char *text = print(cases[i].options);

		cr_expect_str_eq(text, cases[i].text, "%s", text);
	}
}

Test(present, table_fits_the_terminal)
{
	static const struct fab_column wide[] = {{"name", FAB_TEXT, NULL, 0},
						 {"n", FAB_UINT, NULL, 0}};
	char name[301] = "";

	memset(name, 'x', sizeof(name) - 1);
	for (unsigned width = 0; width <= 80; width += 40) {
		const union fab_cell row[] = {{.text = name}, {.u = 5}};
		OWN_HEAP char *text = print_table(
			OPTIONS(.width = width, .color = width > 0), wide, 2, row, 1);

		cr_assert_eq(!strstr(text, name), width > 0, "%u: %s", width, text);
		cr_assert_eq(!strchr(text, '\033'), width == 0, "%u: %s", width, text);
		if (width)
			cr_assert_eq(strcspn(strstr(text, "xxx"), "\n"), width, "%s",
				     text);
	}
}

Test(present, short_table_is_turned_when_it_is_too_wide)
{
	static const struct fab_column wide[] = {{"name", FAB_TEXT, NULL, 0},
						 {"first_number", FAB_UINT, NULL, 0},
						 {"second_number", FAB_UINT, NULL, 0},
						 {"third_number", FAB_UINT, NULL, 0}};
	union fab_cell cells[15 * 4];

	for (uint64_t row = 0; row < 15; row++) {
		cells[4 * row].text = row % 2 ? "even" : "odd";
		for (uint64_t i = 1, u = row + 1; i < 4; i++, u *= 10)
			cells[4 * row + i].u = u;
	}
	for (unsigned width = 43; width <= 44; width++) {
		OWN_HEAP char *text =
			print_table(OPTIONS(.width = width), wide, 4, cells, 2);

		HAS(text, width == 44
				  ? "T\nname first_number second_number third_number\n"
				  : "T\nname          odd even\n"
				    "first_number    1    2\n"
				    "second_number  10   20\n"
				    "third_number  100  200\n");
	}
	for (unsigned n_rows = 11; n_rows < 16; n_rows++) {
		OWN_HEAP char *text =
			print_table(OPTIONS(.width = 10), wide, 4, cells, n_rows);

		/* turned, eleven rows would be wider still; many are never turned */
		HAS(text, "first_number second_number");
	}
}

Test(present, full_disk_is_an_error_in_every_format)
{
	for (int format = FAB_FORMAT_TABLE; format <= FAB_FORMAT_CSV; format++) {
		FILE *out = fopen("/dev/full", "w");
		struct fab_report *r = fab_report_new(
			out, &OPTIONS((enum fab_format)format), "c", "results", NULL);

		for (int i = 0; i < 200; i++) /* more than stdio keeps back */
			fill(r);
		FAILS(fab_report_finish(r, ERR), -ENOSPC, strerror(ENOSPC));
		fclose(out);
	}
}

Test(present, columns_are_checked_and_listed)
{
	static const char *const bad[][2] = {{"root,rot", "'rot'"},
					     {"root,rot", "seconds.total"},
					     {"", ""},
					     {"root,", ""},
					     {"\x1b[2J", "\\x1b[2J"}};
	const size_t n = FAB_COUNT(columns);
	OWN_HEAP char *text = TEXT_BY(out, fab_columns_list(out, columns, n));

	MUST(fab_columns_check(NULL, columns, n, ERR));
	MUST(fab_columns_check("root,seconds.total,seconds_trees", columns, n, ERR));
	for (size_t i = 0; i < FAB_COUNT(bad); i++)
		FAILS(fab_columns_check(bad[i][0], columns, n, ERR), -EINVAL, bad[i][1]);
	HAS(text, "algorithm      name of the algorithm\n");
	HAS(text,
	    "lower_bound    no tree set can do better (in a table only when asked for)\n");
}

Test(present, json_lines)
{
	const uint64_t most = UINT64_C(1) << 53; /* that a number holds */
	FILE *full = fopen("/dev/full", "w");
	json_t *object =
		json_pack("{s:o,s:o,s:o,s:o,s:o}", "group", fab_json_text("g\xff\n"),
			  "root", fab_json_guid(0xab), "most", fab_json_uint(most),
			  "more", fab_json_uint(most + 1), "none", fab_json_text(NULL));
	OWN_HEAP char *text = TEXT_BY(out, MUST(fab_jsonl_write(out, object, ERR)));

	cr_assert_str_eq(
		text,
		"{\"group\":\"g\\\\xff\\\\x0a\",\"root\":\"0x00000000000000ab\","
		"\"most\":9007199254740992,\"more\":\"9007199254740993\",\"none\":null}\n");
	setvbuf(full, NULL, _IONBF, 0);
	FAILS(fab_jsonl_write(full, json_pack("{s:i}", "a", 1), ERR), -ENOSPC,
	      strerror(ENOSPC));
	fclose(full);
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

static const struct fab_column record_columns[] = {
	{"text", FAB_TEXT, NULL, 0, FAB_AT(struct record, text)},
	{"large", FAB_UINT, NULL, 0, FAB_AT(struct record, large), FAB_METRIC_LESS},
	{"small", FAB_UINT, NULL, 0, FAB_AT(struct record, small)},
	{"as_number", FAB_NUMBER, NULL, 0, FAB_AT(struct record, small)},
	{"is_so", FAB_BOOL, NULL, 0, FAB_AT(struct record, is_so)},
	{"unknown", FAB_BOOL, NULL, 0, FAB_AT(struct record, unknown)},
	{"real", FAB_REAL, NULL, 0, FAB_AT(struct record, real)},
	{"counts", FAB_COUNTS, NULL, 0, FAB_AT(struct record, counts)},
	{"numbers", FAB_NUMBERS, NULL, 0, FAB_AT(struct record, numbers)},
};

/* Rows inside a row: an array in JSON, no column in CSV. */
Test(present, records_are_read_by_the_places_of_their_columns)
{
	static const uint64_t count[] = {0, 3};
	static const uint32_t list[] = {5, 2};
	const struct record record = {0.5,	   true,       7,	  1ull << 40,
				      FAB_UNKNOWN, {count, 2}, {list, 2}, "t"};
	static const double numbers[] = {NAN, 0x1p40, 7, 7, 1, NAN, 0.5, NAN, NAN};
	static const struct fab_column outer[] = {{"algorithm", FAB_TEXT, NULL, 0},
						  {"segments", FAB_ROWS, NULL, 0}};
	const struct fab_rows one = {record_columns, FAB_COUNT(record_columns), &record,
				     sizeof(record), 1},
			      none = {record_columns, 1, &record, sizeof(record), 0};
	const union fab_cell cells[] = {
		{.text = "x"}, {.rows = &one}, {.text = "y"}, {.rows = &none}};
	OWN_HEAP char *json = print_table(OPTIONS(FAB_FORMAT_JSON), outer, 2, cells, 2);
	OWN_HEAP char *csv = print_table(OPTIONS(FAB_FORMAT_CSV), outer, 2, cells, 2);

	HAS(json, "{\"algorithm\": \"x\", \"segments\": [{\"text\": \"t\", "
		  "\"large\": 1099511627776, \"small\": 7, \"as_number\": 7, "
		  "\"is_so\": true, \"unknown\": null, \"real\": 0.5, "
		  "\"counts\": {\"1\": 3}, \"numbers\": [5, 2]}]}");
	HAS(json, "{\"algorithm\": \"y\", \"segments\": []}");
	cr_assert_str_eq(csv, "algorithm\r\nx\r\ny\r\n");
	for (size_t i = 0; i < FAB_COUNT(record_columns); i++) {
		double number = fab_column_number(&record_columns[i], &record);

		cr_assert(isnan(numbers[i]) ? isnan(number) : number == numbers[i],
			  "%s: %g", record_columns[i].name, number);
	}
}

typedef char *human_fn(double value, char out[FAB_HUMAN_BYTES]);

static void expect_human(human_fn *human, const double *value, size_t n, const char *text)
{
	OWN_HEAP char *all = NULL;
	char out[FAB_HUMAN_BYTES];

	for (size_t i = 0; i < n; i++)
		fab_append(&all, "|", "%s", human(value[i], out));
	cr_expect_str_eq(all, text, "%s", all);
}

Test(present, numbers_with_units)
{
	static const double seconds[] = {0,	  8.86e-6,   1e-9,   2.5e-12,  0.0013,
					 0.9996,  0.9994,    2.5,    59.94,    59.96,
					 119.6,	  200,	     3599.6, 7500,     86399,
					 1047600, 107295840, NAN,    INFINITY, -1};
	static const double mbps[] = {0.5, 1250, 999.7, NAN, 4e10};
	char out[FAB_HUMAN_BYTES];

	expect_human(fab_human_seconds, seconds, FAB_COUNT(seconds),
		     "0 s|8.86 us|1 ns|0.0025 ns|1.3 ms|1 s|999 ms|2.5 s|59.9 s|1 min|"
		     "2 min|3 min 20 s|1 h|2 h 5 min|1 d|12 d 3 h|3.4 years|unknown|"
		     "unknown|unknown");
	expect_human(fab_human_mbps, mbps, FAB_COUNT(mbps),
		     "500 kb/s|1.25 Gb/s|1 Gb/s|unknown|4e+04 Tb/s");
	cr_expect_str_eq(fab_human_count(0, out), "0");
	cr_expect_str_eq(fab_human_count(9999, out), "9999");
	cr_expect_str_eq(fab_human_count(86762, out), "86 762");
	cr_expect_str_eq(fab_human_count(UINT64_MAX, out), "18 446 744 073 709 551 615");
	cr_expect_str_eq(fab_human_bytes(0, out), "0 B");
	cr_expect_str_eq(fab_human_bytes(50000000, out), "50 MB");
	cr_expect_str_eq(fab_human_bytes(1048576, out), "1.05 MB");
}

Test(present, lines_break_at_blanks_and_lose_nothing)
{
	static const struct {
		size_t width;
		const char *text, *lines;
	} cases[] = {
		{5, "one two three", "one|two|three|"},
		{7, "one two three", "one two|three|"},
		{2, "one", "on|e|"},
		{3, "a  b c", "a|b c|"},
		{4, "\xc3\xbc\xc3\xbc\xc3\xbc \xc3\xbc",
		 "\xc3\xbc\xc3\xbc\xc3\xbc|\xc3\xbc|"},
		{1, "\xff\xfe", "\xff|\xfe|"},
		{9, "seconds.total", "seconds.|total|"},
		{9, "", "|"},
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		const char *rest = cases[i].text;
		char got[64] = "";

		do {
			const char *start = rest;
			size_t n = fab_wrap_line(&rest, cases[i].width);

			strncat(got, start, n);
			strcat(got, "|");
		} while (*rest);
		cr_expect_str_eq(got, cases[i].lines, "case %zu: %s", i, got);
	}
	/* two columns each, and a combining accent that takes none */
	cr_expect_eq(fab_display_width("\xe6\xbc\xa2\xe5\xad\x97"), 4);
	cr_expect_eq(fab_display_width("e\xcc\x81"), 1);
}

struct finding {
	const char *severity, *code, *message;
	uint64_t findings;
	bool sound;
};
static const struct fab_column finding_columns[] = {
	{"severity", FAB_TEXT, NULL, 0, FAB_AT(struct finding, severity)},
	{"code", FAB_TEXT, NULL, 0, FAB_AT(struct finding, code)},
	{"message", FAB_TEXT, NULL, 0, FAB_AT(struct finding, message)},
	{"findings", FAB_UINT, NULL, FAB_COL_BAD_IF_ANY,
	 FAB_AT(struct finding, findings)},
	{"sound", FAB_BOOL, NULL, FAB_COL_BAD_IF_NO, FAB_AT(struct finding, sound)},
};

/* A report with an answer, a field and a table of `n` rows; the caller frees. */
static char *print_findings(struct fab_report_options options, size_t n)
{
	static const char *const messages[] = {
		"cable from port 17 of \"MF0;sat11-0101-0904-02ib0:MQM8700/U1\" to port "
		"1 "
		"of \"sat11-0101-0902-01ufm HCA-2\": EDR, where host links have HDR",
		"short",
	};
	struct sheet s;
	struct fab_report *r = begin(&s, options, "findings");

	fab_report_answer(r, FAB_TONE_PLAIN, "%u problems, the worst is a slow cable.",
			  3u);
	fab_report_answer(r, FAB_TONE_BAD,
			  "Nobody knows whether %s is sound, and that "
			  "has to be said on more than one line.",
			  "\x1b[31mx");
	fab_report_text(r, "source",
			"/a/path/to/a/dump/that/is/so/long/that/it/does/not/"
			"fit/into/a/line/of/eighty/columns.txt");
	fab_report_table_begin(r, "findings", "Findings", finding_columns,
			       FAB_COUNT(finding_columns));
	for (size_t i = 0; i < n; i++)
		fab_report_record_tone(r, i % 2 ? FAB_TONE_WARN : FAB_TONE_PLAIN,
				       &(struct finding){"problem", "slow-link",
							 messages[i % 2], i, i % 2});
	return end(&s);
}

/* The text without white space: what must be there however it is wrapped. */
static char *squeeze(const char *text)
{
	char *out = fab_strdup(text), *to = out;

	for (; *text; text++)
		if (*text != ' ' && *text != '\n')
			*to++ = *text;
	*to = '\0';
	return out;
}

Test(present, nothing_is_cut_at_any_width)
{
	static const unsigned widths[] = {30, 40, 60, 80, 100, 132, 0};
	static const char *const words[] = {"0904-02ib0", "port", "of",
					    "where",	  "have", "HDR"};

	for (size_t i = 0; i < FAB_COUNT(widths); i++)
		for (size_t n = 0; n < 30; n += 1 + 3 * n) {
			OWN_HEAP char *text =
				print_findings(OPTIONS(.width = widths[i]), n);
			OWN_HEAP char *all = squeeze(text);
			const char *word = text;

			for (const char *line = text; *line && widths[i] >= 60;
			     line += strcspn(line, "\n") + 1)
				cr_expect_leq(strcspn(line, "\n"), widths[i], "%u: %s",
					      widths[i], text);
			cr_expect(strstr(all, "solongthatitdoesnot") ||
					  strstr(all, "/so/long/that/it/does/not/"),
				  "%u: %s", widths[i], text);
			/* in their order */
			for (size_t k = 0; k < FAB_COUNT(words) && word; k++)
				word = strstr(word, words[k]);
			cr_expect(!n || widths[i] < 60 || word, "%u: %s", widths[i],
				  text);
		}
}

Test(present, what_is_bad_has_colour_only_when_asked_for)
{
	OWN_HEAP char *bare = print_findings(OPTIONS(.width = 132), 2);
	OWN_HEAP char *colored = print_findings(OPTIONS(.width = 132, .color = true), 2);

	cr_expect_not(strchr(bare, '\033'), "%s", bare);
	/* the answer; a number that should be 0; a no; a row */
	cr_expect_eq(strncmp(colored, "3 problems", 10), 0, "%s", colored);
	HAS(colored, "\n\033[31mNobody knows");
	HAS(colored, "\033[31m       1");
	HAS(colored, "\033[31m   no");
	HAS(colored, "33mproblem");
	for (const char *line = colored; *line; line += strcspn(line, "\n") + 1) {
		const char *end = line + strcspn(line, "\n");
		const char *last = memrchr(line, '\033', (size_t)(end - line));

		/* no colour is left on at the end of a line */
		cr_expect(!last || !strncmp(last, "\033[0m", 4), "%s", line);
	}
}

/* Id of a cell that names a part of the picture. */
static bool find_fulb(void *context, const char *text, char id[FAB_ANCHOR_BYTES])
{
	(void)context;
	if (strcmp(text, "fulb") != 0)
		return false;
	snprintf(id, FAB_ANCHOR_BYTES, "s7");
	return true;
}

static void draw_here(FILE *out, void *context)
{
	fputs(context, out);
}

/* The page: answer, picture, tables, facts; texts are never markup; numbers with units
 * have what they are ordered by; times of the computation are left out. */
Test(present, page)
{
	static const struct fab_column own[] = {
		{"size", FAB_UINT, "how large", FAB_COL_BYTES},
		{"took", FAB_REAL, "computing", FAB_COL_SECONDS,
		 .metric = FAB_METRIC_TIME},
		{"late", FAB_REAL, "a result", FAB_COL_SECONDS},
	};
	static char here[] = "[HERE]";
	const struct fab_page page = {"a <title>", "fabric-test --x='<y>'", draw_here,
				      find_fulb, here};
	const struct fab_report_options options = {.page = &page};
	struct sheet s;
	struct fab_report *r = begin(&s, options, "results");
	OWN_HEAP char *text = NULL;
	const char *answer, *picture, *table;

	fab_report_answer(r, FAB_TONE_BAD, "5 < 6 \"yes\".");
	fill(r);
	fab_report_table_begin(r, "own", "Own <b>", own, FAB_COUNT(own));
	fab_report_row(r, (const union fab_cell[]){
				  {.u = 50000000}, {.real = 1}, {.real = 8.9e-6}});
	fab_report_table_end(r);
	fab_report_table_begin(r, "many", NULL, other, FAB_COUNT(other));
	for (int i = 0; i < 5001; i++)
		fab_report_row(r, (const union fab_cell[]){{.text = "cable"}});
	fab_report_table_end(r);
	text = end(&s);
	answer = strstr(text, "<p class=\"answer bad\">5 &lt; 6 &quot;yes&quot;.</p>");
	picture = strstr(text, "[HERE]");
	table = strstr(text, "<h2>Algorithms</h2>");
	cr_assert(answer && picture > answer && table > picture);
	HAS(text, "<title>a &lt;title&gt;</title>");
	HAS(text, "<td><a href=\"#s7\">fulb</a></td><td class=\"n\">7</td>");
	HAS(text, "<td>\\x1b[31m&quot;x&quot;, y\\x0a\\xff</td>");
	HAS(text, "<h2>Own &lt;b&gt;</h2>");
	HAS(text, "<tr><td class=\"n\" data-v=\"50000000\">50 MB</td>"
		  "<td class=\"n\" data-v=\"8.9e-06\">8.9 us</td></tr>");
	LACKS(text, ">took<");
	HAS(text, "The first 5000 of 5001 rows");
	HAS(text, "<dt>groups</dt><dd>260</dd>");
	HAS(text, "<pre>fabric-test --x=&#39;&lt;y&gt;&#39;</pre>");
}
