/* SPDX-License-Identifier: BSD-2-Clause */
/* Usage errors: they quote arguments, which come from anywhere. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/internal.h"

/* What the parser says while it runs; getopt knows no stream but stderr. */
static struct {
	FILE *terminal; /* the true standard error, NULL: not parsing */
	FILE *memory;
	char *text;
	size_t n;
} said;

FILE *fab_cli_terminal(void)
{
	return said.terminal ? said.terminal : stderr;
}

/* Behind the message argp points to --help, in a line or two of its own. */
static size_t message_len(const char *text)
{
	const char *hint = NULL;

	for (const char *at = text; (at = strstr(at, "\nTry ")); at++)
		hint = at;
	return hint ? (size_t)(hint - text) : strlen(text);
}

/* Print what was said: the message as one line, then argp's own text as it is. */
static void release(void)
{
	size_t len, size;
	char *message, *safe;

	if (!said.terminal)
		return;
	fclose(said.memory);
	stderr = said.terminal;
	said.terminal = NULL;
	len = message_len(said.text);
	if (len && said.text[len - 1] == '\n')
		len--;
	message = fab_strndup(said.text, len);
	size = 4 * len + 8;
	safe = fab_text_local(fab_text_safe(message, fab_alloc(size, 1), size));
	if (said.n)
		fprintf(stderr, "%s%s", safe, said.text + len);
	free(safe);
	free(message);
	free(said.text);
	said.text = NULL;
}

void fab_cli_parse(const struct argp *argp, int argc, char **argv, void *input)
{
	static bool is_registered;

	if (!is_registered)
		atexit(release);
	is_registered = true;
	said.memory = open_memstream(&said.text, &said.n);
	if (!said.memory)
		fab_oom(0);
	said.terminal = stderr;
	stderr = said.memory;
	argp_parse(argp, argc, argv, ARGP_NO_HELP, NULL, input);
	release();
}
