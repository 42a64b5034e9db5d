/* SPDX-License-Identifier: BSD-2-Clause */
/* OpenSM as an algorithm, without running it: its configuration, its log, programs. */
#include <sys/stat.h>
#include <unistd.h>

#include "peer/child.h"
#include "peer/opensm.h"
#include "support/process.h"
#include "support/test.h"

/* Copy a configuration; what comes out is on the heap. */
static char *copied(const char *text, bool *sets_qos, int want)
{
	put("conf", text);
	*sets_qos = false;
	return TEXT_BY(out, cr_expect_eq(fab_opensm_conf_copy("conf", out, sets_qos, ERR),
					 want, "%s: %s", text, test_err.text));
}

Test(peer, conf_keeps_what_routing_depends_on)
{
	static const char text[] =
		"# a comment\n"
		"guid 0x1\nlog_file /var/log/x\ndaemon TRUE\nevent_plugin_name evil\n"
		"routing_engine ftree\nm_key 0x1\nqos_ca_log x\nqos_\n"
		"lash_start_vl 3\n  qos_ca_sl2vl 0,1,2 \n\nqos TRUE\nroot_guid_file (null)\n"
		"root_guid_file roots\ntorus_config /nowhere\nhop_weights_file /dev/null\n";
	FAB_AUTO(folder_fini) struct folder folder;
	bool sets_qos;
	OWN_HEAP char *want = NULL, *got = NULL;

	folder_init(&folder);
	put("roots", "0x1\n");
	got = copied(text, &sets_qos, 0);
	want = fab_format("lash_start_vl 3\nqos_ca_sl2vl 0,1,2\nqos TRUE\n"
			  "root_guid_file %s/roots\nhop_weights_file /dev/null\n",
			  folder.path);
	cr_expect_str_eq(got, want);
	cr_expect(sets_qos);
	free(copied("# c\nlash_start_vl\n", &sets_qos, -EINVAL));
	cr_expect_str_eq(test_err.text, "conf:2: expected a value of lash_start_vl");
	free(copied("cn_guid_file none\n", &sets_qos, -ENOENT));
	cr_expect_str_eq(test_err.text,
			 "conf:1: cn_guid_file none: No such file or directory");
	cr_expect_not(sets_qos);
}

#define AT(level) "Nov 28 00:49:50 777295 [875786C0] " level " -> "
#define BEGUN AT("0x43") "OpenSM 3.3.23\n"
#define MASTER AT("0x80") "Entering MASTER state\n"
#define CANNOT(engine)                                                                   \
	AT("0x01") "ucast_mgr_route: " engine ": cannot build lid matrices\n"
#define SET " tables configured on all switches\n" AT("0x02") "SUBNET UP\n"
#define DONE(engine) AT("0x02") "osm_ucast_mgr_process: " engine SET

static const char no_tree[] = BEGUN AT("0x01") "osm_x: ERR 1111: before\n" MASTER AT(
	"0x01") "construct_fabric: ERR AB2B: Found more than one root\n" CANNOT("ftree")
	DONE("minhop");
static const char disabled[] =
	BEGUN MASTER AT("0x02") "updn_lid_matrices: disabling UPDN algorithm\n" CANNOT(
		"updn") DONE("minhop");
static const char lanes[] = BEGUN MASTER AT(
	"0x02") "dfsssp_remove_deadlocks: Virtual Lanes needed: 4\n" DONE("dfsssp");

static const struct {
	const char *text, *used, *why;
} logs[] = {
	{no_tree, "minhop", "Found more than one root"},
	{disabled, "minhop", "disabling UPDN algorithm"},
	{BEGUN MASTER CANNOT("updn") DONE("minhop"), "minhop",
	 "updn: cannot build lid matrices"},
	{lanes, "dfsssp", NULL},
	{"nothing\n] 0x01 nothing\n" BEGUN DONE("torus-2QoS"), "torus-2QoS", NULL},
};

Test(peer, log_names_the_engine_and_the_reason)
{
	static const char failed[] =
		BEGUN AT("0x01") "do_sweep: ERR 3313: Errors during initialization\n" AT(
			"0x02") "fabkit-path-sl: loaded\n";
	FAB_AUTO(fab_opensm_log_fini) struct fab_opensm_log bad = {0};

	for (size_t i = 0; i < FAB_COUNT(logs); i++) {
		struct fab_opensm_log log = {0};

		fab_opensm_log_take(&log, logs[i].text, strlen(logs[i].text));
		cr_expect(log.is_up && !log.has_plugin);
		cr_expect_str_eq(log.version, "3.3.23");
		cr_expect_str_eq(log.used, logs[i].used);
		if (logs[i].why)
			cr_expect_str_eq(log.why, logs[i].why);
		else
			cr_expect_null(log.why, "%zu: %s", i, log.why);
		fab_opensm_log_fini(&log);
	}
	fab_opensm_log_take(&bad, failed, strlen(failed));
	cr_expect(bad.n_failed == 1 && bad.has_plugin && !bad.is_up);
	cr_expect_str_eq(bad.error, "Errors during initialization");
}

/* A log that grows: whole lines, each once, whatever is written meanwhile. */
Test(peer, log_is_read_as_it_grows)
{
	const char *text = logs[0].text;
	FAB_AUTO(fab_opensm_log_fini) struct fab_opensm_log log = {0};
	FAB_AUTO(folder_fini) struct folder folder;
	size_t n = strlen(text);

	folder_init(&folder);
	fab_opensm_log_read(&log, "log");
	cr_expect_eq(log.n_read, 0, "there is no file yet");
	for (size_t to = 0; to <= n; to++) {
		FILE *file = fopen("log", "w");

		cr_assert(fwrite(text, 1, to, file) == to && fclose(file) == 0);
		fab_opensm_log_read(&log, "log");
		cr_expect_eq(log.is_up, to == n, "%zu of %zu", to, n);
	}
	cr_expect_str_eq(log.why, logs[0].why);
	cr_expect_eq(log.n_failed, 0);
}

static bool wait_for_end(struct fab_child *child)
{
	for (int i = 0; i < 1000 && !fab_child_has_ended(child); i++)
		usleep(10000);
	return fab_child_has_ended(child);
}

Test(peer, programs_run_in_their_folder)
{
	char shell[] = "/bin/sh", flag[] = "-c", slow[] = "sleep 1000 & sleep 1000";
	char script[] = "pwd; env | grep -c ^SAID; echo $SAID; exit 7";
	char *const argv[] = {shell, flag, script, NULL};
	char *const endless[] = {shell, flag, slow, NULL}, *const missing[] = {slow,
									       NULL};
	const char *const env[] = {"SAID=this", NULL}, *const none[] = {NULL};
	struct fab_child child;
	OWN_HEAP char *sh = fab_child_find("sh"), *log = NULL, *want = NULL, *was = NULL;
	struct stat about;
	char *dir;

	cr_expect(sh && !fab_child_find("no-such-program-anywhere"));
	MUST(fab_child_dir_new("/tmp", &dir, ERR));
	setenv("SAID", "that", 1); /* ours comes instead, not besides */
	MUST(fab_child_start(&child, argv, env, dir, "log", ERR));
	cr_assert(wait_for_end(&child));
	cr_expect_str_eq(child.end, "ended with status 7");
	log = fab_format("%s/log", dir);
	want = fab_format("%s\n1\nthis\n", dir);
	cr_expect_str_eq(slurp(log), want);
	MUST(fab_child_start(&child, endless, none, dir, "log", ERR));
	cr_expect_not(fab_child_has_ended(&child));
	fab_child_stop(&child);
	cr_expect_str_eq(child.end, "was ended by signal 9");
	fab_child_stop(&child);
	MUST(fab_child_start(&child, missing, none, dir, "log", ERR));
	cr_assert(wait_for_end(&child));
	cr_expect_str_eq(child.end, "ended with status 127");
	cr_assert_eq(stat(dir, &about), 0);
	cr_expect_eq(about.st_mode & 0777, 0700);
	was = fab_strdup(dir);
	fab_child_dir_remove(dir);
	cr_expect_neq(access(was, F_OK), 0);
}
