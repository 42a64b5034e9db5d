/* SPDX-License-Identifier: BSD-2-Clause */
#include "present/jsonl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

static json_t *must(json_t *value)
{
	if (!value)
		fab_oom(sizeof(void *));
	return value;
}

json_t *fab_json_text(const char *text)
{
	json_t *value;
	size_t size;
	char *safe;

	if (!text)
		return json_null();
	value = json_string(text);
	if (value)
		return value;
	size = 4 * strlen(text) + 8;
	safe = fab_text_safe(text, fab_alloc(size, 1), size);
	value = must(json_string(safe));
	free(safe);
	return value;
}

json_t *fab_json_uint(uint64_t value)
{
	char digits[24];

	if (value <= UINT64_C(1) << 53)
		return must(json_integer((json_int_t)value));
	snprintf(digits, sizeof(digits), "%" PRIu64, value);
	return must(json_string(digits));
}

json_t *fab_json_real(double value, bool is_exact)
{
	json_t *real;
	char text[32];

	if (!is_exact) {
		snprintf(text, sizeof(text), "%.6g", value);
		value = strtod(text, NULL);
	}
	real = json_real(value);
	if (!real)
		fab_oom(sizeof(void *));
	return real;
}

json_t *fab_json_guid(uint64_t guid)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%016" PRIx64, guid);
	return must(json_string(text));
}

int fab_json_put(const char *text, size_t n, FILE *out)
{
	const char *del;

	for (; (del = memchr(text, '\x7f', n)) != NULL; text = del + 1) {
		fwrite(text, 1, (size_t)(del - text), out);
		fputs("\\u007f", out);
		n -= (size_t)(del + 1 - text);
	}
	fwrite(text, 1, n, out);
	return ferror(out) ? -1 : 0;
}

static int put_piece(const char *text, size_t n, void *out)
{
	return fab_json_put(text, n, out);
}

int fab_json_dump(const json_t *value, FILE *out, size_t flags)
{
	return json_dump_callback(value, put_piece, out, flags);
}

int fab_jsonl_write(FILE *out, json_t *object, struct fab_err *err)
{
	int errnum = 0;

	errno = 0;
	if (fab_json_dump(object, out, FAB_JSON_FLAGS | JSON_COMPACT) != 0 ||
	    putc('\n', out) == EOF)
		errnum = errno ? errno : EIO;
	json_decref(object);
	if (errnum)
		return fab_fail(err, errnum, "cannot write a line of JSON: %s",
				strerror(errnum));
	return 0;
}
