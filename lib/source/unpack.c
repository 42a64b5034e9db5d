/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/unpack.h"

#include "base/mem.h"
#include "base/progress.h"
#include "source/reader.h"
#include "source/scan.h"

#define ZLIB_CONST
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

/* Buffer of a stream that is unpacked. */
struct sink {
	const char *name, *kind;
	char *bytes;
	size_t n, cap, max;
};

/* Room for more bytes behind sink->n (and the closing NUL), or EINVAL at the limit. */
static int sink_grow(struct sink *sink, struct fab_err *err)
{
	size_t cap = sink->cap + sink->cap / 2;

	if (sink->n + 1 < sink->cap)
		return 0;
	if (sink->n >= sink->max)
		return fab_fail(
			err, EINVAL,
			"%s: %s data that unpacks to more than %zu bytes, which no dump of this size does",
			sink->name, sink->kind, sink->max);
	sink->cap = cap > sink->max + 1 ? sink->max + 1 : cap;
	sink->bytes = fab_realloc(sink->bytes, sink->cap, 1);
	return 0;
}

static int damaged(const struct sink *sink, const char *how, struct fab_err *err)
{
	return fab_fail(err, EINVAL, "%s: %s data %s after %zu unpacked bytes",
			sink->name, sink->kind, how, sink->n);
}

/* One gzip file may be several streams behind each other. */
static int unpack_gzip(const char *bytes, size_t n, struct sink *sink,
		       struct fab_err *err)
{
	z_stream z = {.next_in = NULL};
	const char *broken = NULL;
	size_t used = 0;
	int state = Z_OK, rc = 0;

	if (inflateInit2(&z, 15 + 16) != Z_OK)
		return fab_fail(err, EIO, "%s: zlib does not start", sink->name);
	while (!rc && !broken && (used < n || state != Z_STREAM_END)) {
		size_t step = n - used > 1 << 30 ? 1 << 30 : n - used, room;

		if (state == Z_STREAM_END) {
			/* Blocks of a tape are filled up with zeros. */
			if (!bytes[used]) {
				used++;
				continue;
			}
			if (inflateReset(&z) != Z_OK) {
				broken = "cannot be read on";
				break;
			}
		}
		rc = sink_grow(sink, err);
		if (rc)
			break;
		room = sink->cap - sink->n - 1;
		room = room > 1 << 30 ? 1 << 30 : room;
		z.next_in = (const Bytef *)bytes + used;
		z.avail_in = (uInt)step;
		z.next_out = (Bytef *)sink->bytes + sink->n;
		z.avail_out = (uInt)room;
		state = inflate(&z, Z_NO_FLUSH);
		used += step - z.avail_in;
		sink->n += room - z.avail_out;
		if (state == Z_BUF_ERROR && used == n)
			broken = "ends early";
		else if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR)
			broken = "is damaged";
	}
	inflateEnd(&z);
	return broken ? damaged(sink, broken, err) : rc;
}

static int unpack_zstd(const char *bytes, size_t n, struct sink *sink,
		       struct fab_err *err)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	ZSTD_inBuffer in = {bytes, n, 0};
	size_t hint = 1;
	int rc = 0;

	if (!z)
		fab_oom(0);
	while (!rc && (in.pos < n || hint)) {
		ZSTD_outBuffer out;
		size_t before = in.pos;

		rc = sink_grow(sink, err);
		if (rc)
			break;
		out = (ZSTD_outBuffer){sink->bytes + sink->n, sink->cap - sink->n - 1, 0};
		hint = ZSTD_decompressStream(z, &out, &in);
		sink->n += out.pos;
		if (ZSTD_isError(hint))
			rc = damaged(sink, "is damaged", err);
		else if (in.pos == n && hint && !out.pos && in.pos == before)
			rc = damaged(sink, "ends early", err);
	}
	ZSTD_freeDStream(z);
	return rc;
}

static bool is_packed(const void *bytes, size_t n, bool *is_gzip)
{
	static const unsigned char gzip[] = {0x1f, 0x8b, 8},
				   zstd[] = {0x28, 0xb5, 0x2f, 0xfd};

	*is_gzip = n >= sizeof(gzip) && !memcmp(bytes, gzip, sizeof(gzip));
	return *is_gzip || (n >= sizeof(zstd) && !memcmp(bytes, zstd, sizeof(zstd)));
}

/* EINVAL for other kinds of compression, with the tool that unpacks it. */
static int refuse_packed(const char *name, const void *bytes, size_t n,
			 struct fab_err *err)
{
	static const struct {
		const char *magic, *kind, *tool;
		size_t n;
	} known[] = {{"\xfd"
		      "7zXZ",
		      "xz", "xzcat", 6},
		     {"BZh", "bzip2", "bzcat", 3},
		     {"\x04\x22\x4d\x18", "lz4", "lz4cat", 4},
		     {"PK\x03\x04", "zip", "unzip -p", 4}};

	for (size_t i = 0; i < FAB_COUNT(known); i++)
		if (n > known[i].n && !memcmp(bytes, known[i].magic, known[i].n) &&
		    (known[i].n > 3 || memchr("123456789", ((const char *)bytes)[3], 9)))
			return fab_fail(
				err, EINVAL,
				"%s: %s data, which is not read here (gzip and zstd are): decompress it first, as in `%s FILE | ... -`",
				name, known[i].kind, known[i].tool);
	return 0;
}

int fab_input_unpack(const char *name, const void *bytes, size_t n, struct fab_input *in,
		     struct fab_err *err)
{
	bool is_gzip, packed = is_packed(bytes, n, &is_gzip);
	struct sink sink = {.name = name, .kind = is_gzip ? "gzip" : "zstd"};
	int rc;

	rc = refuse_packed(name, bytes, n, err);
	if (rc)
		return rc;
	if (!packed) {
		*in = (struct fab_input){.bytes = bytes, .n = n};
		return 0;
	}
	if (__builtin_mul_overflow(n, (size_t)FAB_INPUT_MAX_RATIO, &sink.max) ||
	    __builtin_add_overflow(sink.max, (size_t)FAB_INPUT_SLACK, &sink.max) ||
	    sink.max > FAB_INPUT_MAX_BYTES)
		sink.max = FAB_INPUT_MAX_BYTES;
	sink.cap = (n < sink.max / 8 ? n * 8 : sink.max) + 4096;
	sink.bytes = fab_alloc(sink.cap, 1);
	rc = is_gzip ? unpack_gzip(bytes, n, &sink, err)
		     : unpack_zstd(bytes, n, &sink, err);
	if (rc) {
		free(sink.bytes);
		return rc;
	}
	sink.bytes[sink.n] = '\0';
	*in = (struct fab_input){.bytes = sink.bytes, .n = sink.n, .heap = sink.bytes};
	return 0;
}

/* State of the checks while an input is read. */
struct watch {
	bool (*is_known)(const char *bytes, size_t n); /* NULL: lines of text */
	size_t max;
	bool saw_head, saw_more;
	size_t seen, line; /* bytes without a NUL; where the last line begins */
};

/* The first line with content in `line`; false: none yet, or one word. */
static bool has_words(const char *bytes, size_t n, struct fab_span *line)
{
	struct fab_lines lines = {.at = bytes, .end = bytes + n};

	while (fab_lines_next(&lines, line)) {
		if (line->p == line->end || *line->p == '#')
			continue;
		for (const char *c = line->p; c < line->end; c++)
			if (strchr(" \t,:;=", *c))
				return true;
		return false;
	}
	*line = (struct fab_span){bytes, bytes};
	return false;
}

/*
 * Check the bytes so far; *ends: they are all that is read. Foreign input fails, and text
 * that goes on and is no list: endless input is not read to its end.
 */
static int look(struct watch *w, const char *name, const char *bytes, size_t n,
		bool *ends, struct fab_err *err)
{
	bool is_gzip, is_text = !is_packed(bytes, n, &is_gzip) && !fab_is_cache(bytes, n);
	bool is_first = !w->saw_head, is_seen = n >= FAB_INPUT_SEEN && !w->saw_more;
	const char *from = bytes + w->seen, *nul, *end;
	struct fab_span line;

	if (n < FAB_INPUT_HEAD)
		return 0;
	w->saw_head = true;
	if (is_first && refuse_packed(name, bytes, n, err))
		return -EINVAL;
	if (is_seen) {
		w->saw_more = true;
		*ends = is_text && w->is_known && !w->is_known(bytes, n);
	}
	if (!is_text || (w->is_known && !is_first))
		return 0;
	nul = memchr(from, '\0', n - w->seen);
	if (nul && is_first)
		return fab_fail(
			err, EINVAL,
			"%s: binary data (a NUL byte at byte %zu) of no known format, expected text",
			name, (size_t)(nul - bytes) + 1);
	if (nul)
		return fab_fail(err, EINVAL, "%s: a NUL byte at byte %zu, expected text",
				name, (size_t)(nul - bytes) + 1);
	end = memrchr(from, '\n', n - w->seen);
	w->seen = n;
	if (end)
		w->line = (size_t)(end + 1 - bytes);
	if (w->is_known)
		return 0;
	if (n - w->line >= FAB_INPUT_SEEN)
		return fab_fail(
			err, EINVAL,
			"%s: a line of more than %zu bytes at byte %zu, expected lines of text",
			name, FAB_INPUT_SEEN, w->line + 1);
	if (!is_seen || has_words(bytes, n, &line))
		return 0;
	if (line.p == line.end)
		return fab_fail(err, EINVAL,
				"%s: the first %zu bytes are comments and blanks", name,
				FAB_INPUT_SEEN);
	return fab_fail(
		err, EINVAL,
		"%s: more than %zu bytes that begin with \"%.*s\": no list of names is as long, and records have two words",
		name, FAB_INPUT_SEEN,
		fab_span_len(&line) < 40 ? (int)fab_span_len(&line) : 40, line.p);
}

/* Everything that comes out of a file, followed by a NUL, and unpacked. */
static int read_watched(const char *path, struct watch w, struct fab_input *in,
			struct fab_err *err)
{
	bool is_stdin = !strcmp(path, "-"), ends = false;
	const char *name = is_stdin ? "<stdin>" : path;
	int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	size_t hint = 0, cap, n = 0;
	char *bytes = NULL;
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		int e = errno;

		if (fd > 0)
			close(fd);
		return fab_fail(err, e, "%s: %s", path, strerror(e));
	}
	if (S_ISDIR(st.st_mode))
		rc = fab_fail(err, EISDIR, "%s: %s", path, strerror(EISDIR));
	else if (st.st_size > (off_t)w.max)
		rc = fab_fail(err, EFBIG, "%s: more than %zu bytes", path, w.max);
	else if (S_ISREG(st.st_mode))
		hint = (size_t)st.st_size;
	cap = hint + FAB_INPUT_HEAD + 4096;
	if (!rc)
		bytes = fab_alloc(cap, 1);
	while (!rc && !ends) {
		size_t room = cap - n - 1;
		ssize_t got =
			read(fd, bytes + n, room > 1 << 20 ? (size_t)1 << 20 : room);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			rc = fab_fail(err, errno, "%s: %s", name, strerror(errno));
		if (got <= 0)
			break;
		n += (size_t)got;
		fab_progress_report("reading", "bytes", n, hint > n ? hint : 0);
		rc = look(&w, name, bytes, n, &ends, err);
		if (!rc && n > w.max)
			rc = fab_fail(err, EFBIG, "%s: more than %zu bytes", name, w.max);
		if (cap - n < 4096) {
			cap = fab_grow(cap, cap + 65536);
			bytes = fab_realloc(bytes, cap, 1);
		}
	}
	if (!is_stdin)
		close(fd);
	if (!rc) {
		/* the size of the pieces of a pipe must not change the answer */
		n = ends ? FAB_INPUT_SEEN : n;
		bytes[n] = '\0';
		rc = fab_input_unpack(name, bytes, n, in, err);
	}
	if (rc || in->heap)
		free(bytes);
	else
		in->heap = bytes;
	return rc;
}

int fab_input_read(const char *path, struct fab_input *in, struct fab_err *err)
{
	return read_watched(path, (struct watch){.max = FAB_INPUT_MAX_LIST}, in, err);
}

int fab_input_read_tables(const char *path, struct fab_input *in, struct fab_err *err)
{
	return read_watched(path, (struct watch){.max = FAB_INPUT_MAX_BYTES}, in, err);
}

int fab_input_read_known(const char *path, bool (*is_known)(const char *bytes, size_t n),
			 struct fab_input *in, struct fab_err *err)
{
	return read_watched(
		path, (struct watch){.is_known = is_known, .max = FAB_INPUT_MAX_BYTES},
		in, err);
}

void fab_input_fini(struct fab_input *in)
{
	free(in->heap);
	*in = (struct fab_input){.bytes = NULL};
}

bool fab_input_exists(const char *path)
{
	struct stat st;

	return !strcmp(path, "-") || (!stat(path, &st) && !S_ISDIR(st.st_mode));
}

const char *fab_input_name(const char *path)
{
	return strcmp(path, "-") ? path : "standard input";
}

int fab_list_file_read(const char *path, fab_use_line *use, void *context,
		       struct fab_err *err)
{
	FAB_AUTO(fab_input_fini) struct fab_input in = {0};
	int rc = fab_input_read(path, &in, err);

	if (rc)
		return rc;
	return fab_list_lines(strcmp(path, "-") ? path : "(stdin)", in.bytes, in.n, use,
			      context, err);
}
