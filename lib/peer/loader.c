/* SPDX-License-Identifier: BSD-2-Clause */
#include "peer/loader.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "peer/child.h"
#include "source/unpack.h"

enum { LIMIT_SECONDS = 30, PAUSE_NS = 5000000, FILES_MAX = 1 << 20 };

/* The loader of this process: that of the system. */
static int take_interpreter(struct dl_phdr_info *info, size_t size, void *out)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_INTERP)
			*(char **)out =
				(char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
	return 1; /* the first object is the program */
}

/* True if the file is there and is ELF. */
static bool is_elf(const char *path)
{
	char magic[SELFMAG] = "";
	FILE *file = fopen(path, "re");
	bool is = file && fread(magic, 1, sizeof(magic), file) == sizeof(magic) &&
		  !memcmp(magic, ELFMAG, SELFMAG);

	if (file)
		fclose(file);
	return is;
}

static void take_path(struct fab_arena *memory, struct fab_loader_files *out,
		      const char *path, size_t len)
{
	char *text = fab_arena_format(memory, "%.*s", (int)len, path);

	if (*text != '/' || out->found.n + out->missing.n >= FILES_MAX)
		return;
	if (access(text, R_OK) != 0)
		FAB_PUSH(&out->missing, text);
	else if (!out->found.n || strcmp(out->found.v[0], text) != 0)
		FAB_PUSH(&out->found, text);
}

void fab_loader_read_log(struct fab_arena *memory, const char *log, size_t len,
			 struct fab_loader_files *out)
{
	static const char mark[] = "trying file=";
	const char *end = log + len, *at = log;

	while (at < end && (at = memmem(at, (size_t)(end - at), mark, strlen(mark)))) {
		const char *line_end;

		at += strlen(mark);
		line_end = memchr(at, '\n', (size_t)(end - at));
		if (!line_end)
			break;
		take_path(memory, out, at, (size_t)(line_end - at));
		at = line_end;
	}
}

/* Run the loader until it ends. */
static int list(char *const *argv, const char *dir, struct fab_err *err)
{
	static const char *const env[] = {"LD_DEBUG=libs", "LC_ALL=C", NULL};
	static const struct timespec pause = {.tv_nsec = PAUSE_NS};
	struct fab_child child = {0};
	int rc = fab_child_start(&child, argv, env, dir, "log", err);

	for (int i = 0; !rc && !fab_child_has_ended(&child); i++) {
		if (i > LIMIT_SECONDS * (1000000000 / PAUSE_NS)) {
			fab_child_stop(&child);
			return fab_fail(
				err, ETIMEDOUT,
				"the loader has not listed the files of '%s' in %d s",
				argv[2], LIMIT_SECONDS);
		}
		nanosleep(&pause, NULL);
	}
	return rc;
}

int fab_loader_files(struct fab_arena *memory, const char *program,
		     struct fab_loader_files *out, struct fab_err *err)
{
	FAB_AUTOFREE char *path = realpath(program, NULL), *log = NULL;
	char flag[] = "--list", *loader = NULL, *dir = NULL;
	struct fab_input in = {0};
	int rc;

	*out = (struct fab_loader_files){0};
	if (!path)
		return fab_fail(err, errno, "%s: %s", program, strerror(errno));
	if (!is_elf(path))
		return fab_fail(err, EINVAL, "%s: no program: expected an ELF file",
				program);
	dl_iterate_phdr(take_interpreter, &loader);
	if (!loader)
		return fab_fail(err, ENOENT,
				"the dynamic loader of this system is not known");
	rc = fab_child_dir_new(P_tmpdir, &dir, err);
	if (rc)
		return rc;
	FAB_PUSH(&out->found, fab_arena_format(memory, "%s", path));
	rc = list((char *const[]){loader, flag, path, NULL}, dir, err);
	log = fab_format("%s/log", dir);
	if (!rc)
		rc = fab_input_read(log, &in, err);
	if (!rc) {
		fab_loader_read_log(memory, in.bytes, in.n, out);
		fab_input_fini(&in);
	}
	fab_child_dir_remove(dir);
	fab_arena_own(memory, free, out->found.v);
	fab_arena_own(memory, free, out->missing.v);
	return rc;
}
