/* SPDX-License-Identifier: BSD-2-Clause */
/* What people read: answers first, units, and tables that cut nothing at any width. */
#include <criterion/criterion.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/mem.h"
#include "present/report.h"

Test(readable, seconds)
{
	static const struct {
		double seconds;
		const char *text;
	} cases[] = {
		{0, "0 s"},
		{8.86e-6, "8.86 us"},
		{1e-9, "1 ns"},
		{2.5e-12, "0.0025 ns"},
		{0.0013, "1.3 ms"},
		{0.9996, "1 s"},
		{0.9994, "999 ms"},
		{2.5, "2.5 s"},
		{59.94, "59.9 s"},
		{59.96, "1 min"},
		{119.6, "2 min"},
		{200, "3 min 20 s"},
		{3599.6, "1 h"},
		{7500, "2 h 5 min"},
		{86399, "1 d"},
		{86400 * 12.125, "12 d 3 h"},
		{365.25 * 86400 * 3.4, "3.4 years"},
		{NAN, "unknown"},
		{INFINITY, "unknown"},
		{-1, "unknown"},
	};
	char out[FAB_HUMAN_BYTES];

	for (size_t i = 0; i < FAB_COUNT(cases); i++)
		cr_expect_str_eq(fab_human_seconds(cases[i].seconds, out), cases[i].text,
				 "%g: %s", cases[i].seconds, out);
}

Test(readable, counts_rates_and_sizes)
{
	char out[FAB_HUMAN_BYTES];

	cr_expect_str_eq(fab_human_count(0, out), "0");
	cr_expect_str_eq(fab_human_count(9999, out), "9999");
	cr_expect_str_eq(fab_human_count(86762, out), "86 762");
	cr_expect_str_eq(fab_human_count(UINT64_MAX, out), "18 446 744 073 709 551 615");
	cr_expect_str_eq(fab_human_mbps(0.5, out), "500 kb/s");
	cr_expect_str_eq(fab_human_mbps(1250, out), "1.25 Gb/s");
	cr_expect_str_eq(fab_human_mbps(999.7, out), "1 Gb/s");
	cr_expect_str_eq(fab_human_mbps(NAN, out), "unknown");
	cr_expect_str_eq(fab_human_mbps(4e10, out), "4e+04 Tb/s");
	cr_expect_str_eq(fab_human_bytes(0, out), "0 B");
	cr_expect_str_eq(fab_human_bytes(50000000, out), "50 MB");
	cr_expect_str_eq(fab_human_bytes(1048576, out), "1.05 MB");
}

Test(readable, lines_break_at_blanks_and_lose_nothing)
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

struct record {
	const char *severity, *code, *message;
	uint64_t findings;
	bool sound;
};
static const struct fab_column columns[] = {
	FAB_COLUMN(severity, TEXT, NULL),
	FAB_COLUMN(code, TEXT, NULL),
	FAB_COLUMN(message, TEXT, NULL),
	FAB_COLUMN_AS(findings, UINT, NULL, FAB_COL_BAD_IF_ANY),
	FAB_COLUMN_AS(sound, BOOL, NULL, FAB_COL_BAD_IF_NO),
};

/* A report with an answer, a field and a table of `n` rows; the caller frees. */
static char *print(struct fab_report_options options, size_t n)
{
	static const char *const messages[] = {
		"cable from port 17 of \"MF0;sat11-0101-0904-02ib0:MQM8700/U1\" to port "
		"1 "
		"of \"sat11-0101-0902-01ufm HCA-2\": EDR, where host links have HDR",
		"short",
	};
	struct fab_report *r;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	r = fab_report_new(out, &options, "fabric-test", "findings", NULL);
	fab_report_answer(r, FAB_TONE_PLAIN, "%u problems, the worst is a slow cable.",
			  3u);
	fab_report_answer(r, FAB_TONE_BAD,
			  "Nobody knows whether %s is sound, and that "
			  "has to be said on more than one line.",
			  "\x1b[31mx");
	fab_report_text(r, "source",
			"/a/path/to/a/dump/that/is/so/long/that/it/does/not/"
			"fit/into/a/line/of/eighty/columns.txt");
	fab_report_table_begin(r, "findings", "Findings", columns, FAB_COUNT(columns));
	for (size_t i = 0; i < n; i++)
		fab_report_record_tone(r, i % 2 ? FAB_TONE_WARN : FAB_TONE_PLAIN,
				       &(struct record){"problem", "slow-link",
							messages[i % 2], i, i % 2});
	fab_report_table_end(r);
	cr_assert_eq(fab_report_finish(r, NULL), 0);
	fclose(out);
	return text;
}

Test(readable, answer_comes_first)
{
	static const char *const answer =
		"3 problems, the worst is a slow cable.\nNobody "
		"knows whether \\x1b[31mx is sound, and that has "
		"to be said on more than one line.";
	char *table = print((struct fab_report_options){0}, 1);
	char *json = print((struct fab_report_options){.format = FAB_FORMAT_JSON}, 1);
	char *csv = print((struct fab_report_options){.format = FAB_FORMAT_CSV}, 1);
	char *bare = print((struct fab_report_options){.no_header = true}, 1);

	cr_expect_eq(strncmp(table, answer, strlen(answer)), 0, "%s", table);
	cr_expect_eq(strncmp(table + strlen(answer), "\n\nFindings\n", 11), 0, "%s",
		     table);
	cr_expect(strstr(table, "\n\nsource  /a/path"), "%s", table);
	cr_expect(strstr(json, "\"summary\": \"3 problems, the worst is a slow cable. "
			       "Nobody knows whether \\u001B[31mx is sound"),
		  "%s", json);
	cr_expect(strstr(json, "\"summary\"") < strstr(json, "\"source\""), "%s", json);
	cr_expect_eq(strncmp(csv, "severity,code,", 14), 0, "%s", csv);
	cr_expect_not(strstr(csv, "Nobody"), "%s", csv);
	cr_expect_not(strstr(bare, "Nobody"), "%s", bare);
	free(table);
	free(json);
	free(csv);
	free(bare);
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

/* Are the words there, in this order? */
static bool has_words(const char *text, const char *words)
{
	char *list = fab_strdup(words), *save = NULL;

	for (char *word = strtok_r(list, " ", &save); word && text;
	     word = strtok_r(NULL, " ", &save)) {
		text = strstr(text, word);
		if (text)
			text += strlen(word);
	}
	free(list);
	return text != NULL;
}

Test(readable, nothing_is_cut_at_any_width)
{
	static const unsigned widths[] = {30, 40, 60, 80, 100, 132, 0};

	for (size_t i = 0; i < FAB_COUNT(widths); i++)
		for (size_t n = 0; n < 30; n += 1 + 3 * n) {
			struct fab_report_options options = {.width = widths[i]};
			char *text = print(options, n), *all = squeeze(text);

			for (const char *line = text; *line && widths[i] >= 60;
			     line += strcspn(line, "\n") + 1)
				cr_expect_leq(strcspn(line, "\n"), widths[i], "%u: %s",
					      widths[i], text);
			cr_expect(strstr(all, "solongthatitdoesnot") ||
					  strstr(all, "/so/long/that/it/does/not/"),
				  "%u: %s", widths[i], text);
			cr_expect(!n || (has_words(text,
						   "0904-02ib0 port of where have HDR") ||
					 widths[i] < 60),
				  "%u: %s", widths[i], text);
			free(all);
			free(text);
		}
}

Test(readable, what_is_bad_has_colour_only_when_asked_for)
{
	char *plain = print((struct fab_report_options){.width = 132}, 2);
	char *colored =
		print((struct fab_report_options){.width = 132, .color = true}, 2);

	cr_expect_not(strchr(plain, '\033'), "%s", plain);
	/* the answer; a number that should be 0; a no; a row */
	cr_expect_eq(strncmp(colored, "3 problems", 10), 0, "%s", colored);
	cr_expect(strstr(colored, "\n\033[31mNobody knows"), "%s", colored);
	cr_expect(strstr(colored, "\033[31m       1"), "%s", colored);
	cr_expect(strstr(colored, "\033[31m   no"), "%s", colored);
	cr_expect(strstr(colored, "33mproblem"), "%s", colored);
	for (const char *line = colored; *line; line += strcspn(line, "\n") + 1) {
		const char *end = line + strcspn(line, "\n");
		const char *last = memrchr(line, '\033', (size_t)(end - line));

		/* no colour is left on at the end of a line */
		cr_expect(!last || !strncmp(last, "\033[0m", 4), "%s", line);
	}
	free(plain);
	free(colored);
}

Test(readable, units_in_tables_and_plain_numbers_for_scripts)
{
	static const struct fab_column units[] = {
		{"wait_seconds", FAB_REAL, NULL, FAB_COL_SECONDS},
		{"share_mbps", FAB_NUMBER, NULL, FAB_COL_MBPS},
		{"image_bytes", FAB_UINT, NULL, FAB_COL_BYTES},
	};
	static const char *const expected[] = {
		[FAB_FORMAT_TABLE] = "8.9 us   1 Gb/s       50 MB",
		[FAB_FORMAT_JSON] = "{\"wait_seconds\": 8.9e-6, \"share_mbps\": 1000, "
				    "\"image_bytes\": 50000000}",
		[FAB_FORMAT_CSV] = "8.9e-06,1000,50000000\r\n",
	};

	for (int format = FAB_FORMAT_TABLE; format <= FAB_FORMAT_CSV; format++) {
		struct fab_report_options options = {.format = (enum fab_format)format};
		char *text = NULL, *all;
		size_t size;
		FILE *out = open_memstream(&text, &size);
		struct fab_report *r = fab_report_new(out, &options, "c", "t", NULL);

		fab_report_table_begin(r, "t", "T", units, FAB_COUNT(units));
		fab_report_row(r, (union fab_cell[]){{.real = 8.9e-6},
						     {.real = 1000},
						     {.u = 50000000}});
		cr_assert_eq(fab_report_finish(r, NULL), 0);
		fclose(out);
		all = squeeze(text);
		cr_expect(format == FAB_FORMAT_TABLE
				  ? strstr(all, "8.9us1Gb/s50MB") != NULL
				  : strstr(text, expected[format]) != NULL,
			  "%s", text);
		free(all);
		free(text);
	}
}
