/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of options: every kind of value, given rightly, wrongly, twice and not at all.
 */
#include "cli/command.h"
#include "support/process.h"
#include "support/test.h"

#include <sys/wait.h>

TestSuite(options, .init = enter_folder, .fini = leave_folder);

enum colour { RED, GREEN, BLUE };

struct params {
	struct fab_cli_input input;
	struct fab_cli_output output;
	struct fab_cli_run run;
	struct fab_cli_store store;
	bool flag, has_many, has_level;
	unsigned count;
	const char *text, *in, *out, *either, *checked;
	FAB_VEC(const char *) many;
	uint32_t small, level;
	uint64_t large, bytes, ns;
	double real, mbps, seconds, other;
	enum colour colour;
	struct fab_chosen_list chosen;
	struct fab_cli_plot plot;
	struct fab_cli_shard shard;
	bool is_complete, hard, soft;
	uint32_t verb;
};

static int is_even(const char *arg, struct fab_err *err)
{
	return strlen(arg) % 2 ? fab_fail(err, EINVAL, "'%s' is odd", arg) : 0;
}

static int take_other(void *params, const char *arg, struct fab_err *err)
{
	if (*arg != 'x')
		return fab_fail(err, EINVAL, "'%s' has no x", arg);
	((struct params *)params)->other = (double)strlen(arg);
	return 0;
}

#define COLOURS FAB_NAME_LIST([RED] = "red", [GREEN] = "green", [BLUE] = "blue")
#define TO(member) FAB_TO(struct params, member)
static const struct fab_option options[] = {
	{.help = "All of them:"},
	{"flag", NULL, "f", FAB_TAKES_NOTHING, TO(flag)},
	{"count", NULL, "c", FAB_TAKES_COUNT, TO(count), .letter = 'c'},
	{"text", "T", "t", FAB_TAKES_TEXT, TO(text), .preset = "none"},
	{"checked", "T", "t", FAB_TAKES_TEXT, TO(checked), .check = is_even},
	{"in", "FILE", "i", FAB_TAKES_INPUT, TO(in)},
	{"out", "FILE", "o", FAB_TAKES_OUTPUT, TO(out)},
	{"either", "FILE|T", "e", FAB_TAKES_FILE_OR_TEXT, TO(either)},
	{"many", "T", "m", FAB_TAKES_TEXT, TO(many), .is_many = true,
	 .flag = TO(has_many)},
	{"small", "N", "s", FAB_TAKES_NUMBER, TO(small), .min = 2, .max = 9},
	{"large", "N", "l", FAB_TAKES_NUMBER, TO(large), .max = UINT64_MAX},
	{"level", "N", "l", FAB_TAKES_NUMBER, TO(level), .min = 1, .max = 5,
	 .is_optional = true, .bare = "3", .flag = TO(has_level)},
	{"real", "R", "r", FAB_TAKES_REAL, TO(real), .low = 0.5, .high = 2},
	{"bytes", "SIZE", "b", FAB_TAKES_BYTES, TO(bytes), .preset = "1KiB"},
	{"mbps", "RATE", "m", FAB_TAKES_MBPS, TO(mbps)},
	{"ns", "TIME", "n", FAB_TAKES_NS, TO(ns), .max = 2000000000},
	{"seconds", "TIME", "s", FAB_TAKES_SECONDS, TO(seconds), .min = 1,
	 .max = 60000000000, .like = "5s"},
	{"colour", "C", "c", FAB_TAKES_ONE, TO(colour), .choices = COLOURS,
	 .preset = "green"},
	{"chosen", "LIST", "c", FAB_TAKES_CHOSEN, TO(chosen), .choices = COLOURS,
	 .max = 2, .has_none = true, .preset = "red"},
	{"plot", "FILE", "p", FAB_TAKES_PLOT, TO(plot)},
	{"shard", "K/N", "s", FAB_TAKES_SHARD, TO(shard)},
	{"other", "X", "o", FAB_TAKES_OTHER, .take = take_other},
	{0},
};

static const struct fab_part parts[] = {
	FAB_PART(fab_cli_input_rows, struct params, input),
	{options, 0},
	FAB_PART(fab_cli_output_rows, struct params, output),
	FAB_PART(fab_cli_store_rows, struct params, store),
	FAB_PART(fab_cli_run_rows, struct params, run),
	FAB_PART(fab_cli_chance_rows, struct params, run),
	{0},
};

static const struct fab_relation relations[] = {
	{"small,large", FAB_GOES_WITH, "real,colour=blue"},
	{"ns", FAB_NEEDS, "seconds", "clocks agree"},
	{"flag", FAB_EXCLUDES, "either,many"},
	{"mbps,bytes,level", FAB_APART},
	{"plot", FAB_EXCLUDES, "columns"},
	{"in,out", FAB_REQUIRED, "flag,text,count", "no files"},
	{0},
};

static const struct fab_column all[] = {{"a", FAB_UINT, "a", 0}};
static const struct fab_task task = {FAB_TASK_COLUMNS(all)};

static int complete(void *params, struct fab_err *err)
{
	struct params *p = params;

	if (p->count > 3)
		return fab_fail(err, EINVAL, "%u are too many", p->count);
	p->is_complete = true;
	return 0;
}

static const struct fab_command command = {.name = "fabric-test",
					   .args = "FABRIC",
					   .parts = parts,
					   .relations = relations,
					   .task = &task,
					   .complete = complete};

/* A command of several questions. */
static const struct fab_verb verbs[] = {{"ask", "FABRIC", "a", &task},
					{"tell", "", "t", &task},
					{"both", "[FABRIC]", "b", &task},
					{0}};
static const struct fab_option verb_rows[] = {
	{"hard", NULL, "h", FAB_TAKES_NOTHING, FAB_TO(struct params, hard)},
	{"soft", NULL, "s", FAB_TAKES_NOTHING, FAB_TO(struct params, soft)},
	{0}};
static const struct fab_part verb_parts[] = {
	FAB_PART(fab_cli_input_rows, struct params, input),
	{verb_rows, 0},
	FAB_PART(fab_cli_output_rows, struct params, output),
	{0}};
static const struct fab_relation verb_relations[] = {
	{"hard", FAB_GOES_WITH, "VERB=ask"},
	{"soft", FAB_GOES_WITH, "VERB=ask,VERB=both"},
	{0}};
static const struct fab_command verb_command = {.name = "fabric-test",
						.doc = "Test.",
						.parts = verb_parts,
						.relations = verb_relations,
						.verbs = verbs,
						.verb = FAB_TO(struct params, verb)};

/* Words between blanks; params refer to them until the next call. */
static struct params read_params(const struct fab_command *c, const char *words)
{
	static char copy[512];
	char *argv[32] = {(char[]){"fabric-test"}};
	struct params p = {0};
	struct fab_given g;
	int argc = 1;

	snprintf(copy, sizeof(copy), "%s", words);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	fab_given_init(&g, c, &p);
	fab_given_read(&g, argc, argv);
	FAB_FREE_ALL(g.of.v, g.arguments);
	return p;
}

static void end(struct params *p)
{
	struct fab_given g;

	fab_cli_close_store(&p->store);
	fab_given_init(&g, &command, p);
	fab_given_fini(&g);
}

/* Of the next read_line(). */
static const struct fab_command *reader = &command;
static const char *line;

static void read_line(void)
{
	struct params p = read_params(reader, line);

	end(&p);
}

Test(options, every_kind)
{
	FAB_AUTO(end) struct params p = read_params(&command, "f --text=a");

	cr_assert(!p.flag && !p.has_many && !p.count && !p.in && !p.has_level);
	cr_assert(p.bytes == 1024 && p.colour == GREEN && p.is_complete);
	cr_assert(p.chosen.of.n == 1 && p.chosen.of.v[0].row == RED);
	end(&p);
	p = read_params(
		&command,
		"--flag -cc --count --text=t --checked=ab --in=i --out=o "
		"--small=9 --large=18446744073709551615 --level --real=.5 --ns=1.5s "
		"--seconds=10ms fabric --colour=blue --chosen=blue,red --plot=a/b.png "
		"--shard=2/8 --other=xyz -qvv --threads=3 --format=csv -ofile "
		"--node-name-map=m --hca=mlx5_[0-3] --seed=18446744073709551615 "
		"--verify --no-header");
	cr_assert(p.flag && p.count == 3 && p.has_level && p.level == 3);
	cr_assert_str_eq(p.text, "t");
	cr_assert_str_eq(p.checked, "ab");
	cr_assert_str_eq(p.in, "i");
	cr_assert_str_eq(p.out, "o");
	cr_assert(p.small == 9 && p.large == UINT64_MAX && p.real == 0.5);
	cr_assert_eq(p.ns, 1500000000);
	cr_assert_float_eq(p.seconds, 0.01, 1e-15);
	cr_assert_str_eq(p.input.fabric, "fabric");
	cr_assert_eq(p.colour, BLUE);
	cr_assert(p.chosen.of.n == 2 && p.chosen.of.v[0].row == BLUE);
	cr_assert_str_eq(p.plot.path, "a/b.png");
	cr_assert(p.shard.part.number == 2 && p.shard.part.count == 8);
	cr_assert_eq(p.other, 3);
	cr_assert(p.run.quiet && p.run.verbose == 2 && p.run.threads == 3);
	cr_assert(p.run.verify && p.run.seed == UINT64_MAX);
	cr_assert(p.output.no_header && p.output.format == FAB_FORMAT_CSV);
	cr_assert_str_eq(p.output.path, "file");
	cr_assert_str_eq(p.input.node_name_map, "m");
	cr_assert_str_eq(p.input.hca, "mlx5_[0-3]");
	end(&p);
	/* of those given twice the last counts */
	p = read_params(&command,
			"f --text=a --text=b --many=a --many=b --small=3 --small=4 "
			"--chosen=red,green --chosen=none --colour=red --colour=blue "
			"--mbps=1G --mbps=125MB/s");
	cr_assert_str_eq(p.text, "b");
	cr_assert(p.many.n == 2 && p.has_many);
	cr_assert_str_eq(p.many.v[0], "a");
	cr_assert_str_eq(p.many.v[1], "b");
	cr_assert(p.small == 4 && p.chosen.of.n == 0 && p.colour == BLUE);
	cr_assert_eq(p.mbps, 1000);
}

Test(options, verbs)
{
	struct params p = read_params(&verb_command, "--soft both");

	cr_assert(p.verb == 2 && p.soft && !p.input.fabric);
	p = read_params(&verb_command, "tell");
	cr_assert_eq(p.verb, 1);
	p = read_params(&verb_command, "ask --hard f");
	cr_assert(p.verb == 0 && p.hard && !strcmp(p.input.fabric, "f"));
	p = read_params(&verb_command, "--columns=help");
	cr_assert(p.output.list_columns && !p.output.columns);
}

/* The command line is refused with this sentence, which is one line. */
static void expect_refused(const char *words, const char *sentence)
{
	OWN_HEAP char *begin = fab_format("fabric-test: %s\nTry ", sentence);
	const char *err;

	line = words;
	cr_expect_eq(run(read_line, "out", "err"), W_EXITCODE(FAB_EXIT_USAGE, 0), "%s",
		     words);
	cr_expect_str_empty(slurp("out"), "%s", words);
	err = slurp("err");
	cr_expect(!strncmp(err, begin, strlen(begin)), "%s: %s", words, err);
}

/* Golden cases have the messages; here are the limits. */
Test(options, bad_values)
{
	static const char *const rows[][2] = {
		{"--checked=abc", "--checked: 'abc' is odd"},
		{"--many=a --many=", "--many: the value is empty"},
		{"--small=1", "--small: '1' is not a number from 2 to 9"},
		{"--small=10", "--small: '10' is not a number from 2 to 9"},
		{"--small=3 --small=x", "--small: 'x' is not a number from 2 to 9"},
		{"--small=4294967298",
		 "--small: '4294967298' is not a number from 2 to 9"},
		{"--large=18446744073709551616",
		 "--large: '18446744073709551616' is not a number from 0 to 2^64-1"},
		{"--level=", "--level: '' is not a number from 1 to 5"},
		{"--real=0.49", "--real: '0.49' is not a number from 0.5 to 2"},
		{"--real=2.01", "--real: '2.01' is not a number from 0.5 to 2"},
		{"--ns=3s", "--ns: time '3s' is longer than 2s"},
		{"--seconds=0",
		 "--seconds: '0' is too short: expected a time such as 5s"},
		{"--seconds=61s", "--seconds: time '61s' is longer than 60s"},
		{"--chosen=red,",
		 "--chosen: '' is unknown; there are: all, red, green, blue"},
		{"--chosen=red,green,blue", "--chosen: 3 names, 2 are the most"},
		{"--plot=.svg", "--plot: '.svg' does not end in .svg or .png"},
		{"--mbps=0G", "--mbps: rate '0G' is not above 0 and up to 1000 Tb/s"},
		{"--other=y", "--other: 'y' has no x"},
		{"f -cccc", "4 are too many"},
		{"f g", "more than one FABRIC: 'f' and 'g'"},
		{"f --columns=b --text=a", "--columns: no column 'b'; there are: a"},
		{"f --store=- -c", "--store: a database cannot be standard output"},
		{"f --out=-", "--out=- needs --output=FILE for the report"},
		{"- --in=-",
		 "standard input can be read only once: FABRIC and --in both name it"},
		{"f --out=a --plot=a.svg -o a.svg",
		 "--plot and --output are the same file: 'a.svg'"},
	};

	for (size_t i = 0; i < FAB_COUNT(rows); i++)
		expect_refused(rows[i][0], rows[i][1]);
}

Test(options, relations)
{
	static const char *const rows[][2] = {
		{"f -c --small=3", "--small goes with --real=R or --colour=blue only"},
		{"f -c --large=3 --colour=red",
		 "--large goes with --real=R or --colour=blue only"},
		{"f -c --ns=1s", "--ns needs --seconds=TIME: clocks agree"},
		{"f --flag --many=a", "--flag and --many do not go together"},
		{"f --flag --either=a --many=a",
		 "--flag and --either do not go together"},
		{"f -c --level --mbps=1G", "--mbps and --level do not go together"},
		{"f -c --bytes=1B --level=2", "--bytes and --level do not go together"},
		{"f", "no files: --in=FILE or --out=FILE is missing"},
		{"f -c --label=x", "--label goes with --store=FILE only"},
		{"--columns=help --plot=a.svg",
		 "--plot and --columns do not go together"},
	};
	char good[] =
		"f -c --small=3 --real=1|f -c --large=3 --colour=blue|f -c --level|"
		"f -c --ns=1s --seconds=1s|f --flag --text=a|f --in=x|--columns=help|"
		"f -c --label=x --store=a.db|--columns=help --flag --many=a";

	for (size_t i = 0; i < FAB_COUNT(rows); i++)
		expect_refused(rows[i][0], rows[i][1]);
	for (char *rest = good; (line = strsep(&rest, "|"));)
		cr_expect_eq(run(read_line, "out", "err"), 0, "%s: %s", line,
			     slurp("err"));
	reader = &verb_command;
	expect_refused("tell --hard", "--hard goes with ask only");
	expect_refused("tell --soft", "--soft goes with ask or both only");
}
