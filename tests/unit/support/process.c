/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/process.h"
#include "cli/cli.h"
#include "support/test.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

void folder_init(struct folder *f)
{
	const char *parent = getenv("TMPDIR");
	int n = snprintf(f->path, sizeof(f->path), "%s/fab-test-XXXXXX",
			 parent && *parent ? parent : "/tmp");

	cr_assert_lt(n, (int)sizeof(f->path));
	cr_assert(mkdtemp(f->path));
	cr_assert_eq(chdir(f->path), 0);
}

void folder_fini(struct folder *f)
{
	FAB_AUTOFREE char *command = fab_format("rm -r '%s'", f->path);

	cr_assert_eq(chdir("/"), 0);
	cr_assert_eq(system(command), 0);
}

static struct folder own;

void enter_folder(void)
{
	folder_init(&own);
}

void leave_folder(void)
{
	folder_fini(&own);
}

static void redirect(int fd, const char *path)
{
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (file < 0 || dup2(file, fd) < 0)
		_exit(99);
	close(file);
}

/* Leave without the leak check of a sanitizer, which dislikes a forked process. */
static void leave(int status, void *unused)
{
	(void)unused;
	_exit(status);
}

int run(void (*body)(void), const char *out, const char *err)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		redirect(STDOUT_FILENO, out);
		redirect(STDERR_FILENO, err);
		on_exit(leave, NULL); /* first in, last out */
		fab_cli_init("fabric-test");
		body();
		exit(0);
	}
	cr_assert_gt(pid, 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return status;
}

const char *slurp(const char *path)
{
	static char text[4096];
	FILE *file = fopen(path, "r");
	size_t n = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	text[n] = '\0';
	if (file)
		fclose(file);
	return text;
}

void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	cr_assert(file);
	fputs(text, file);
	fclose(file);
}

int n_files(void)
{
	FILE *list = popen("ls -A | grep -vx -e out -e err | wc -l", "r");
	int n = -1;

	cr_assert(list);
	cr_assert_eq(fscanf(list, "%d", &n), 1);
	pclose(list);
	return n;
}
