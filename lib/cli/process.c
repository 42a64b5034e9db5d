/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process of a command: messages and the progress line on standard error, signals,
 * start and end.
 */
#include <errno.h>
#include <jansson.h>
#include <locale.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/progress.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/internal.h"
#include "peer/child.h"

struct fab_cli_progress {
	char *what, *unit;
	struct fab_progress_line line;
};

/* Several threads of a sweep report progress. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Is a progress line on the terminal? Messages must take it off first. */
static volatile int is_visible;

/* Time after a tick during which the library's phases are not shown. */
static const double COVERED_SECONDS = 1.0;
/* Shorter phases are not shown. */
static const double SHOWN_SECONDS = 0.1;

void fab_cli_progress_hide(void)
{
	if (!is_visible)
		return;
	is_visible = 0;
	fputs("\r\033[K", stderr);
}

struct fab_cli_progress *fab_cli_progress_new(const struct fab_cli_run *run,
					      const char *what, const char *unit)
{
	struct fab_cli_progress *p;

	if (run->quiet || !isatty(STDERR_FILENO))
		return NULL;
	p = FAB_NEW0(1, struct fab_cli_progress);
	p->what = fab_strdup(what);
	p->unit = fab_strdup(unit);
	fab_progress_line_begin(&p->line, p->what, p->unit, 0, fab_now());
	return p;
}

/* Draw the line, if it is time to. */
static void show(struct fab_progress_line *line, uint64_t done, uint64_t total)
{
	char text[FAB_PROGRESS_BYTES];

	if (!fab_progress_line_text(line, fab_now(), done, total, text))
		return;
	fprintf(stderr, "\r%s\033[K", text);
	is_visible = 1;
}

/*
 * Phases that the library reports where no progress of a command has ticked within a
 * second: each is timed from its first report, and again when it restarts. The first
 * second without a line is that of all of them together.
 */
static struct {
	const char *name; /* NULL: none yet */
	double covered;	  /* until then a command's own progress says more */
	uint64_t last;	  /* that was done */
	struct fab_progress_line line;
} phase;

static void hear(void *context, const char *name, const char *unit, uint64_t done,
		 uint64_t total)
{
	(void)context;
	pthread_mutex_lock(&lock);
	if (phase.name != name || done < phase.last) {
		double next = phase.line.next, now = fab_now();

		fab_progress_line_begin(&phase.line, name, unit, done, now);
		if (phase.name)
			phase.line.next = fmax(next, now + SHOWN_SECONDS);
	}
	phase.name = name;
	phase.last = done;
	if (fab_now() >= phase.covered)
		show(&phase.line, done, total);
	pthread_mutex_unlock(&lock);
}

void fab_cli_progress_listen(const struct fab_cli_run *run)
{
	if (!run->quiet && isatty(STDERR_FILENO))
		fab_progress_listen(hear, NULL);
}

int fab_cli_progress_tick(void *progress, uint64_t done, uint64_t total)
{
	if (!progress)
		return 0;
	pthread_mutex_lock(&lock);
	phase.covered = fab_now() + COVERED_SECONDS;
	show(&((struct fab_cli_progress *)progress)->line, done, total);
	pthread_mutex_unlock(&lock);
	return 0;
}

void fab_cli_progress_free(struct fab_cli_progress *progress)
{
	if (!progress)
		return;
	fab_cli_progress_hide();
	phase.covered = 0;
	FAB_FREE_ALL(progress->what, progress->unit, progress);
}

/* Messages of the parser while it runs; getopt knows no stream but stderr. */
static struct {
	FILE *terminal; /* the true standard error, NULL: not parsing */
	FILE *memory;
	char *text;
	size_t n;
} said;

/* Print them: the message as one line without control characters, then argp's hint at
 * --help, unchanged, on lines of its own. */
void fab_cli_release(void)
{
	const char *hint = NULL;
	size_t len, size;
	FAB_AUTOFREE char *message = NULL, *safe = NULL;

	if (!said.terminal)
		return;
	fclose(said.memory);
	stderr = said.terminal;
	said.terminal = NULL;
	for (const char *at = said.text; (at = strstr(at, "\nTry ")); at++)
		hint = at;
	len = hint ? (size_t)(hint - said.text) : strlen(said.text);
	if (len && said.text[len - 1] == '\n')
		len--;
	message = fab_strndup(said.text, len);
	size = 4 * len + 8;
	safe = fab_text_local(fab_text_safe(message, fab_alloc(size, 1), size));
	if (said.n)
		fprintf(stderr, "%s%s", safe, said.text + len);
	free(said.text);
	said.text = NULL;
}

void fab_cli_hold(void)
{
	static bool is_registered;

	if (!is_registered)
		atexit(fab_cli_release);
	is_registered = true;
	said.memory = fab_text_stream(&said.text, &said.n);
	said.terminal = stderr;
	stderr = said.memory;
}

enum { MAX_MESSAGE = 1024 };

void fab_cli_message(const char *label, const char *text)
{
	char room[4 * MAX_MESSAGE +
		  8]; /* nothing is allocated when the results are out */
	size_t size = 4 * strlen(text) + 8;
	FAB_AUTOFREE char *longer = size > sizeof(room) ? fab_alloc(size, 1) : NULL;
	char *safe = fab_text_local(fab_text_safe(text, longer ? longer : room, size));

	fab_cli_progress_hide();
	fprintf(said.terminal ? said.terminal : stderr, "%s: %s%s\n",
		program_invocation_short_name, label, safe);
}

static bool is_ending;

void fab_cli_expect_end(void)
{
	is_ending = true;
}

/*
 * The last word on standard output: a result that did not arrive must not look like
 * success, not even that of --help. Runs at exit, after all else.
 */
static void close_stdout(int status, void *unused)
{
	int errnum = 0;

	(void)unused;
	if (status == FAB_EXIT_FOUND && !is_ending) {
		fab_cli_message(
			"",
			"a library ended the run, as when the system starts no more threads (ulimit -u, pids): nothing was written; try --threads=1");
		_exit(FAB_EXIT_ERROR);
	}
	errno = 0;
	if (ferror(stdout) || fclose(stdout) != 0)
		errnum = errno ? errno : EIO;
	/* EBADF: started without a standard output and nothing was printed */
	if (!errnum || errnum == EBADF) {
		/* as every program that Ctrl-C ends: the shell stops the script, too */
		if (status == FAB_EXIT_INTERRUPTED) {
			signal(SIGINT, SIG_DFL);
			raise(SIGINT);
		}
		/* who gives up halfway frees nothing: no matter for a leak checker */
		if (status >= FAB_EXIT_USAGE)
			_exit(status);
		return;
	}
	if (status != FAB_EXIT_ERROR) /* else the reason was printed */
		fprintf(stderr, "%s: cannot write standard output: %s\n",
			program_invocation_short_name, strerror(errnum));
	_exit(FAB_EXIT_ERROR);
}

/* Removes what was not committed; async-signal-safe. */
static void (*volatile discard)(void);

void fab_cli_on_end(void (*remove)(void))
{
	discard = remove;
}

static void discard_all(void)
{
	fab_child_end_all();
	if (discard)
		discard();
}

static void end_by_signal(int signum)
{
	discard_all();
	raise(signum); /* SA_RESETHAND: now with its default effect */
}

static volatile sig_atomic_t was_interrupted;

/* The next one ends the program as all signals do. */
static void remember_interrupt(int signum)
{
	const struct sigaction action = {.sa_handler = end_by_signal,
					 .sa_flags = (int)SA_RESETHAND};

	was_interrupted = 1;
	sigaction(signum, &action, NULL);
}

void fab_cli_catch_interrupt(void)
{
	struct sigaction action = {.sa_handler = remember_interrupt,
				   .sa_flags = SA_RESTART};
	struct sigaction before;

	if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler == end_by_signal)
		sigaction(SIGINT, &action, NULL);
}

bool fab_cli_is_interrupted(void *unused)
{
	(void)unused;
	return was_interrupted != 0;
}

/*
 * Every signal whose default effect is to end the process, also those of a fault in it;
 * SIGKILL cannot be caught. A handler that is there already (a sanitizer's) stays, and so
 * does SIG_IGN: nohup and the like have asked to be left alone.
 */
static void catch_signals(void)
{
	static const int harmless[] = {SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP,
				       SIGTTIN, SIGTTOU, SIGURG,  SIGWINCH};
	static char stack[16384]; /* of the handler, when the own one is full */
	const stack_t alternative = {.ss_sp = stack, .ss_size = sizeof(stack)};
	int flags = (int)SA_RESETHAND;

	if (sigaltstack(&alternative, NULL) == 0)
		flags |= SA_ONSTACK;
	for (int signum = 1; signum <= SIGRTMAX; signum++) {
		struct sigaction action = {.sa_handler = end_by_signal,
					   .sa_flags = flags};
		struct sigaction before;
		bool is_deadly = true;

		for (size_t i = 0; i < FAB_COUNT(harmless); i++)
			is_deadly = is_deadly && signum != harmless[i];
		if (is_deadly && sigaction(signum, NULL, &before) == 0 &&
		    before.sa_handler == SIG_DFL)
			sigaction(signum, &action, NULL);
	}
}

static void *alloc_or_end(size_t bytes)
{
	return fab_alloc(bytes, 1);
}

void fab_cli_init(const char *program)
{
	static char name[64], version[96];

	snprintf(name, sizeof(name), "%s", program);
	snprintf(version, sizeof(version), "%s (fabkit) %s", program, FAB_VERSION);
	program_invocation_short_name = name;
	argp_program_version = version;
	/* The limit of glibc grows to 32 MiB with the first large array that is freed:
	 * what is smaller fragments the heap, which takes a fifth more memory on a
	 * million hosts. */
	if (!getenv("MALLOC_MMAP_THRESHOLD_"))
		mallopt(M_MMAP_THRESHOLD, 4 << 20);
	/* jansson leaves out what it has no memory for, and says nothing */
	json_set_alloc_funcs(alloc_or_end, free);
	argp_err_exit_status = FAB_EXIT_USAGE;
	setlocale(LC_CTYPE, ""); /* widths of characters; numbers stay in the C locale */
	on_exit(close_stdout, NULL);
	atexit(discard_all);
	atexit(fab_cli_progress_hide);
	/* the parent process may have ignored it: a closed pipe ends the command quietly
	 */
	signal(SIGPIPE, SIG_DFL);
	catch_signals();
}

static void say(const char *label, const char *format, va_list values)
{
	char text[MAX_MESSAGE];

	vsnprintf(text, sizeof(text), format, values);
	fab_cli_message(label, text);
}

void fab_cli_warn(const struct fab_cli_run *run, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	if (!run || !run->quiet)
		say("warning: ", format, values);
	va_end(values);
}

void fab_cli_note(const struct fab_cli_run *run, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	if (!run->quiet)
		say("", format, values);
	va_end(values);
}
