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

static size_t max_unpacked(size_t packed)
{
	size_t max;

	if (__builtin_mul_overflow(packed, (size_t)FAB_INPUT_MAX_RATIO, &max) ||
	    __builtin_add_overflow(max, (size_t)FAB_INPUT_SLACK, &max) ||
	    max > FAB_INPUT_MAX_BYTES)
		return FAB_INPUT_MAX_BYTES;
	return max;
}

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
static int inflate_all(z_stream *z, const char *bytes, size_t n, struct sink *sink,
		       struct fab_err *err)
{
	size_t used = 0;
	int rc = Z_OK;

	while (used < n || rc != Z_STREAM_END) {
		size_t step = n - used > 1 << 30 ? 1 << 30 : n - used, room;

		if (rc == Z_STREAM_END) {
			/* Blocks of a tape are filled up with zeros. */
			if (!bytes[used]) {
				used++;
				continue;
			}
			if (inflateReset(z) != Z_OK)
				return damaged(sink, "cannot be read on", err);
		}
		rc = sink_grow(sink, err);
		if (rc)
			return rc;
		room = sink->cap - sink->n - 1;
		room = room > 1 << 30 ? 1 << 30 : room;
		z->next_in = (const Bytef *)bytes + used;
		z->avail_in = (uInt)step;
		z->next_out = (Bytef *)sink->bytes + sink->n;
		z->avail_out = (uInt)room;
		rc = inflate(z, Z_NO_FLUSH);
		used += step - z->avail_in;
		sink->n += room - z->avail_out;
		if (rc == Z_BUF_ERROR && used == n)
			return damaged(sink, "ends early", err);
		if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
			return damaged(sink, "is damaged", err);
	}
	return 0;
}

static int unpack_gzip(const char *bytes, size_t n, struct sink *sink,
		       struct fab_err *err)
{
	z_stream z = {.next_in = NULL};
	int rc;

	if (inflateInit2(&z, 15 + 16) != Z_OK)
		return fab_fail(err, EIO, "%s: zlib does not start", sink->name);
	rc = inflate_all(&z, bytes, n, sink, err);
	inflateEnd(&z);
	return rc;
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

/* Compressed in a way that is not unpacked here: EINVAL says by what it is. */
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
	sink.max = max_unpacked(n);
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

/* The check while long text goes on: endless input is not read to its end. */
static int look_at_text(struct watch *w, const char *name, const char *bytes, size_t n,
			struct fab_err *err)
{
	const char *from = bytes + w->seen, *nul = memchr(from, '\0', n - w->seen);
	const char *end = memrchr(from, '\n', n - w->seen);
	struct fab_span line;

	if (nul)
		return fab_fail(err, EINVAL, "%s: a NUL byte at byte %zu, expected text",
				name, (size_t)(nul - bytes) + 1);
	w->seen = n;
	if (end)
		w->line = (size_t)(end + 1 - bytes);
	if (n - w->line >= FAB_INPUT_SEEN)
		return fab_fail(
			err, EINVAL,
			"%s: a line of more than %zu bytes at byte %zu, expected lines of text",
			name, FAB_INPUT_SEEN, w->line + 1);
	if (w->saw_more || n < FAB_INPUT_SEEN || has_words(bytes, n, &line))
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

/* Continue reading? Fails on foreign input; *ends: stop here. */
static int look(struct watch *w, const char *name, const char *bytes, size_t n,
		bool *ends, struct fab_err *err)
{
	bool is_gzip, is_text = !is_packed(bytes, n, &is_gzip) && !fab_is_cache(bytes, n);

	if (!w->saw_head && n >= FAB_INPUT_HEAD) {
		const char *nul = is_text ? memchr(bytes, '\0', n) : NULL;

		w->saw_head = true;
		if (refuse_packed(name, bytes, n, err))
			return -EINVAL;
		if (nul)
			return fab_fail(
				err, EINVAL,
				"%s: binary data (a NUL byte at byte %zu) of no known format, expected text",
				name, (size_t)(nul - bytes) + 1);
	}
	if (w->saw_head && is_text && !w->is_known &&
	    look_at_text(w, name, bytes, n, err))
		return -EINVAL;
	if (!w->saw_more && n >= FAB_INPUT_SEEN) {
		w->saw_more = true;
		*ends = is_text && w->is_known && !w->is_known(bytes, n);
	}
	return 0;
}

/* Everything that comes out of a descriptor. */
static int slurp(int fd, const char *name, size_t hint, struct watch *w, char **out,
		 size_t *out_n, struct fab_err *err)
{
	size_t cap = hint + FAB_INPUT_HEAD + 4096, n = 0;
	char *bytes = fab_alloc(cap, 1);
	bool ends = false;
	int rc;

	while (!ends) {
		size_t room = cap - n - 1;
		ssize_t got =
			read(fd, bytes + n, room > 1 << 20 ? (size_t)1 << 20 : room);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int e = errno;

			free(bytes);
			return fab_fail(err, e, "%s: %s", name, strerror(e));
		}
		if (!got)
			break;
		n += (size_t)got;
		fab_progress_report("reading", "bytes", n, hint > n ? hint : 0);
		rc = look(w, name, bytes, n, &ends, err);
		if (!rc && n > w->max)
			rc = fab_fail(err, EFBIG, "%s: more than %zu bytes", name,
				      w->max);
		if (rc) {
			free(bytes);
			return rc;
		}
		if (cap - n < 4096) {
			cap = fab_grow(cap, cap + 65536);
			bytes = fab_realloc(bytes, cap, 1);
		}
	}
	/* how much a pipe gives at a time is no part of the answer */
	if (ends)
		n = FAB_INPUT_SEEN;
	bytes[n] = '\0';
	*out = bytes;
	*out_n = n;
	return 0;
}

static int read_raw(const char *path, struct watch *w, char **bytes, size_t *n,
		    struct fab_err *err)
{
	bool is_stdin = !strcmp(path, "-");
	struct stat st;
	int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0 || fstat(fd, &st)) {
		int e = errno;

		if (fd > 0)
			close(fd);
		return fab_fail(err, e, "%s: %s", path, strerror(e));
	}
	if (S_ISDIR(st.st_mode))
		rc = fab_fail(err, EISDIR, "%s: %s", path, strerror(EISDIR));
	else if (st.st_size > (off_t)w->max)
		rc = fab_fail(err, EFBIG, "%s: more than %zu bytes", path, w->max);
	else
		rc = slurp(fd, is_stdin ? "<stdin>" : path,
			   S_ISREG(st.st_mode) ? (size_t)st.st_size : 0, w, bytes, n,
			   err);
	if (!is_stdin)
		close(fd);
	return rc;
}

static int read_watched(const char *path, struct watch w, struct fab_input *in,
			struct fab_err *err)
{
	const char *name = strcmp(path, "-") ? path : "<stdin>";
	char *bytes = NULL;
	size_t n = 0;
	int rc = read_raw(path, &w, &bytes, &n, err);

	if (rc)
		return rc;
	rc = fab_input_unpack(name, bytes, n, in, err);
	if (rc)
		free(bytes);
	else if (in->heap)
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

int fab_list_file_read(const char *path, fab_use_line *use, void *context,
		       struct fab_err *err)
{
	struct fab_input in;
	int rc = fab_input_read(path, &in, err);

	if (rc)
		return rc;
	rc = fab_list_lines(strcmp(path, "-") ? path : "(stdin)", in.bytes, in.n, use,
			    context, err);
	fab_input_fini(&in);
	return rc;
}
