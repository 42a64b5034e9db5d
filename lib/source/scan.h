/* SPDX-License-Identifier: BSD-2-Clause */
/* Walking over text: lines of an input, and small tokens within a line. */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "base/progress.h"

/* Borrowed bytes, not closed by NUL. As a cursor: what is still to be read. */
struct fab_span {
	const char *p, *end;
};

/* Result of parsing a line. */
enum fab_line_result {
	FAB_LINE_OK,
	FAB_LINE_FOREIGN, /* no such line at all */
	FAB_LINE_BROKEN,  /* begins like one */
};

enum { FAB_QUOTE = '"' };

struct fab_lines {
	const char *at, *end;
	uint64_t line; /* number of the line given last, from 1 */
	bool is_open;  /* it has no newline: the input ends within it */
};

static inline size_t fab_span_len(const struct fab_span *s)
{
	return (size_t)(s->end - s->p);
}

static inline bool fab_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static inline bool fab_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Report the progress of reading a text that begins at `text`, every 4096 lines. */
static inline void fab_lines_tell(const struct fab_lines *lines, const char *text)
{
	if (lines->line % 4096 == 0)
		fab_progress_report("reading", "bytes", (uint64_t)(lines->at - text),
				    (uint64_t)(lines->end - text));
}

/* The next line without its newline and outer blanks (a CR is one); false at the end. */
static inline bool fab_lines_next(struct fab_lines *lines, struct fab_span *line)
{
	const char *newline;

	if (lines->at == lines->end)
		return false;
	newline = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
	line->p = lines->at;
	line->end = newline ? newline : lines->end;
	lines->at = newline ? newline + 1 : lines->end;
	lines->is_open = !newline;
	lines->line++;
	while (line->p < line->end && fab_is_blank(line->end[-1]))
		line->end--;
	while (line->p < line->end && fab_is_blank(*line->p))
		line->p++;
	return true;
}

static inline void fab_skip_blanks(struct fab_span *s)
{
	while (s->p < s->end && fab_is_blank(*s->p))
		s->p++;
}

/* The first word, taken off the text with the blanks behind it; empty at the end. */
static inline struct fab_span fab_take_word(struct fab_span *s)
{
	struct fab_span word = {s->p, s->p};

	while (word.end < s->end && !fab_is_blank(*word.end))
		word.end++;
	s->p = word.end;
	fab_skip_blanks(s);
	return word;
}

static inline bool fab_take_char(struct fab_span *s, char c)
{
	if (s->p == s->end || *s->p != c)
		return false;
	s->p++;
	return true;
}

/* True if the text begins with these bytes. */
static inline bool fab_begins(const struct fab_span *s, const char *text, size_t n)
{
	return fab_span_len(s) >= n && !memcmp(s->p, text, n);
}
#define FAB_BEGINS(s, literal) fab_begins((s), literal, sizeof(literal) - 1)

static inline bool fab_take_bytes(struct fab_span *s, const char *text, size_t n)
{
	if (!fab_begins(s, text, n))
		return false;
	s->p += n;
	return true;
}
#define FAB_TAKE(s, literal) fab_take_bytes((s), literal, sizeof(literal) - 1)

/* A decimal number of at most 9 digits. */
static inline bool fab_take_dec(struct fab_span *s, uint32_t *out)
{
	const char *start = s->p;
	uint32_t value = 0;

	while (s->p < s->end && fab_is_digit(*s->p) && s->p - start < 9)
		value = value * 10 + (uint32_t)(*s->p++ - '0');
	*out = value;
	return s->p != start && !(s->p < s->end && fab_is_digit(*s->p));
}

/* 1 to 16 hexadecimal digits. */
bool fab_take_hex(struct fab_span *s, uint64_t *out);

/* The last byte `c` of the text, NULL if absent. */
static inline const char *fab_span_last(const struct fab_span *s, char c)
{
	return s->p == s->end ? NULL : memrchr(s->p, c, fab_span_len(s));
}

/*
 * "4xHDR" as ibnetdiscover writes a rate: lanes and speed. Unknown parts ("??", "???")
 * give 0. False when the text is no rate; *is_known is false for a word that looks like a
 * speed but is unknown, which gives FAB_SPEED_UNKNOWN.
 */
bool fab_take_rate(struct fab_span *s, uint8_t *width, uint8_t *speed, bool *is_known);

#define FAB_AGGREGATION_NAME "Mellanox Technologies Aggregation Node"
/* True for the description of a SHARP aggregation node. */
bool fab_is_aggregation_name(const char *name, size_t n);

/* LIDs 0, 65535 and above are invalid: 0. */
static inline uint16_t fab_lid(uint32_t lid)
{
	return lid < 0xffff ? (uint16_t)lid : 0;
}
