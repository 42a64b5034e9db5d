/* SPDX-License-Identifier: BSD-2-Clause */
#include "peer/child.h"

#include "source/unpack.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* Processes to end and folders to remove; slots are taken and left by all threads. */
enum { SLOTS = 256 };
static _Atomic(pid_t) running[SLOTS];
static _Atomic(char *) folders[SLOTS];

char *fab_child_find(const char *program)
{
	const char *path = getenv("PATH");
	FAB_AUTOFREE char *all =
		fab_format("%s:/usr/sbin:/sbin", path ? path : "/usr/bin:/bin");
	char *found = NULL, *rest = all, *dir;

	while (!found && (dir = strsep(&rest, ":"))) {
		found = fab_format("%s/%s", *dir ? dir : ".", program);
		if (access(found, X_OK) != 0) {
			free(found);
			found = NULL;
		}
	}
	return found;
}

/* rm -rf, in a process of its own; async-signal-safe. */
static void remove_folder(char *dir)
{
	char program[] = "rm", flags[] = "-rf", end[] = "--";
	char *const argv[] = {program, flags, end, dir, NULL};
	pid_t pid = fork();

	if (!pid) {
		execve("/bin/rm", argv, environ);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

int fab_child_dir_new(const char *parent, char **out, struct fab_err *err)
{
	char *dir = fab_format("%s/fabkit-XXXXXX", parent);

	if (!mkdtemp(dir)) {
		int rc = fab_fail(err, errno, "%s: cannot make a folder: %s", parent,
				  strerror(errno));

		free(dir);
		return rc;
	}
	for (size_t i = 0; i < SLOTS; i++) {
		char *none = NULL;

		if (atomic_compare_exchange_strong(&folders[i], &none, dir))
			break;
	}
	*out = dir;
	return 0;
}

void fab_child_dir_remove(char *dir)
{
	remove_folder(dir);
	for (size_t i = 0; i < SLOTS; i++) {
		char *was = dir;

		atomic_compare_exchange_strong(&folders[i], &was, NULL);
	}
	free(dir);
}

/* Signals as a program expects them: all with their default effect, none blocked. */
static void reset_signals(void)
{
	const struct sigaction action = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int signum = 1; signum <= SIGRTMAX; signum++)
		sigaction(signum, &action, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the new process: only what is async-signal-safe. */
static void become(char *const *argv, char *const *env, const char *dir, const char *log,
		   pid_t parent)
{
	int in, out;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || chdir(dir) != 0)
		_exit(127);
	in = open("/dev/null", O_RDONLY);
	out = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (in < 0 || out < 0 || dup2(in, STDIN_FILENO) < 0 ||
	    dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0)
		_exit(127);
	reset_signals();
	execve(argv[0], argv, env);
	_exit(127);
}

/* Is the variable of this line one of those? */
static bool is_set(const char *const *env, const char *line)
{
	size_t n = strcspn(line, "=") + 1;

	for (; *env; env++)
		if (!strncmp(*env, line, n))
			return true;
	return false;
}

int fab_child_start(struct fab_child *child, char *const *argv, const char *const *env,
		    const char *dir, const char *log, struct fab_err *err)
{
	size_t n = 0, n_own = 0;
	pid_t parent = getpid(), pid;
	sigset_t all, before;
	FAB_AUTOFREE char **both = NULL;
	int errnum;

	*child = (struct fab_child){0};
	while (environ[n])
		n++;
	while (env[n_own])
		n_own++;
	both = FAB_NEW0(n + n_own + 1, char *);
	memcpy(both, env, n_own * sizeof(*both));
	for (size_t i = 0, to = n_own; i < n; i++)
		if (!is_set(env, environ[i]))
			both[to++] = environ[i];
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = fork();
	errnum = errno;
	if (!pid)
		become(argv, both, dir, log, parent);
	for (size_t i = 0; i < SLOTS && pid > 0; i++) {
		pid_t none = 0;

		if (atomic_compare_exchange_strong(&running[i], &none, pid))
			break;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (pid < 0)
		return fab_fail(err, errnum, "cannot start %s: %s", argv[0],
				strerror(errnum));
	child->pid = pid;
	return 0;
}

static void forget(struct fab_child *child, int status)
{
	for (size_t i = 0; i < SLOTS; i++) {
		pid_t was = child->pid;

		atomic_compare_exchange_strong(&running[i], &was, 0);
	}
	child->pid = 0;
	if (WIFSIGNALED(status))
		snprintf(child->end, sizeof(child->end), "was ended by signal %d",
			 WTERMSIG(status));
	else
		snprintf(child->end, sizeof(child->end), "ended with status %d",
			 WEXITSTATUS(status));
}

bool fab_child_has_ended(struct fab_child *child)
{
	int status = 0;
	pid_t pid;

	if (!child->pid)
		return true;
	pid = waitpid(child->pid, &status, WNOHANG);
	if (pid == child->pid || (pid < 0 && errno == ECHILD))
		forget(child, status);
	return !child->pid;
}

void fab_child_stop(struct fab_child *child)
{
	int status = 0;

	if (!child->pid)
		return;
	kill(-child->pid, SIGKILL);
	kill(child->pid, SIGKILL); /* before it has a group of its own */
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	forget(child, status);
}

void fab_child_end_all(void)
{
	for (size_t i = 0; i < SLOTS; i++) {
		pid_t pid = atomic_load(&running[i]);

		if (pid <= 0)
			continue;
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL);
		/* it writes into its folder no more */
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	for (size_t i = 0; i < SLOTS; i++) {
		char *dir = atomic_exchange(&folders[i], NULL);

		if (dir)
			remove_folder(dir);
	}
}

/* Files of a program. */

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
