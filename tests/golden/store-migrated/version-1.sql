-- SPDX-License-Identifier: BSD-2-Clause
-- The schema of version 1 as it was; the migrations lead from it to the later ones.

PRAGMA application_id = 0x6661626b; -- "fabk"
PRAGMA user_version = 1;

-- One run of a command.
CREATE TABLE run (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice
  time TEXT NOT NULL,                   -- end of the run, UTC, as 2026-11-20T12:34:56Z
  command TEXT NOT NULL,                -- fabric-mcroute
  version TEXT NOT NULL,                -- of the command
  arguments TEXT NOT NULL,              -- as a shell would read them
  label TEXT,                           -- --label
  host TEXT NOT NULL,                   -- where it ran
  source TEXT NOT NULL,                 -- the FABRIC argument
  fingerprint TEXT NOT NULL,            -- 0x and 16 digits: what is cabled to what
  switches INTEGER NOT NULL,
  adapters INTEGER NOT NULL,
  aggregation_nodes INTEGER NOT NULL,
  hosts INTEGER NOT NULL,
  switch_links INTEGER NOT NULL,
  host_links INTEGER NOT NULL
) STRICT;
CREATE INDEX run_of_fabric ON run (fingerprint);

-- What belongs to the run as a whole, such as its number of groups.
CREATE TABLE fact (
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  name TEXT NOT NULL,
  value ANY NOT NULL CHECK (typeof(value) IN ('integer', 'real')),
  PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;

-- One algorithm of a run.
CREATE TABLE result (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  position INTEGER NOT NULL, -- in the run, from 0
  algorithm TEXT NOT NULL,
  UNIQUE (run, position)
) STRICT;

-- What was measured, one number a row.
CREATE TABLE metric (
  result INTEGER NOT NULL REFERENCES result ON DELETE CASCADE,
  name TEXT NOT NULL, -- as the field in the JSON output
  value ANY NOT NULL CHECK (typeof(value) IN ('integer', 'real')),
  PRIMARY KEY (result, name)
) STRICT, WITHOUT ROWID;

-- How loads spread: so many cables carry so many trees.
CREATE TABLE histogram (
  result INTEGER NOT NULL REFERENCES result ON DELETE CASCADE,
  load INTEGER NOT NULL,
  links INTEGER NOT NULL,
  PRIMARY KEY (result, load)
) STRICT, WITHOUT ROWID;

-- Which metrics there are, and whether less or more of one is better.
CREATE TABLE metric_kind (
  name TEXT PRIMARY KEY,
  position INTEGER NOT NULL,                      -- the order in which people read them
  better TEXT CHECK (better IN ('less', 'more')), -- null: neither
  is_time INTEGER NOT NULL DEFAULT 0,             -- 1: differs from run to run
  help TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO metric_kind (position, name, better, is_time, help) VALUES
  (1, 'max_efi', 'less', 0, 'largest number of trees on a switch-to-switch cable'),
  (2, 'max_efi_all', 'less', 0, 'the same over all cables, host cables too'),
  (3, 'mean_efi', 'less', 0, 'mean number of trees over all switch-to-switch cables'),
  (4, 'links_at_max', NULL, 0, 'switch-to-switch cables with the largest number'),
  (5, 'lower_bound', NULL, 0, 'no trees whatever can have a smaller max_efi'),
  (6, 'max_height', 'less', 0, 'switch hops from a root to its farthest member, largest'),
  (7, 'tree_links', 'less', 0, 'switch-to-switch cables of all trees together'),
  (8, 'verified', 'more', 0, '1: every tree was checked and is sound, 0: one is not'),
  (9, 'seconds.distances', 'less', 1, 'time for hop distances'),
  (10, 'seconds.roots', 'less', 1, 'time for root candidates'),
  (11, 'seconds.trees', 'less', 1, 'time for choosing roots and growing trees'),
  (12, 'seconds.total', 'less', 1, 'distances, roots and trees together');

-- For people: the runs, newest first, a line each.
CREATE VIEW runs AS
  SELECT run.id AS run, time, label, source, fingerprint,
    (SELECT value FROM fact WHERE run = run.id AND name = 'groups') AS groups,
    (SELECT group_concat(algorithm, ' ')
      FROM (SELECT algorithm FROM result WHERE run = run.id ORDER BY position)) AS algorithms,
    command, arguments
  FROM run ORDER BY run.id DESC;

-- For people: a line for each algorithm of each run of fabric-mcroute.
CREATE VIEW mcroute AS
  SELECT run.id AS run, time, label, source, fingerprint, algorithm,
    max(iif(metric.name = 'max_efi', value, NULL)) AS max_efi,
    max(iif(metric.name = 'mean_efi', value, NULL)) AS mean_efi,
    max(iif(metric.name = 'lower_bound', value, NULL)) AS lower_bound,
    max(iif(metric.name = 'max_height', value, NULL)) AS max_height,
    max(iif(metric.name = 'tree_links', value, NULL)) AS tree_links,
    max(iif(metric.name = 'seconds.total', value, NULL)) AS seconds
  FROM run JOIN result ON result.run = run.id JOIN metric ON metric.result = result.id
  WHERE command = 'fabric-mcroute'
  GROUP BY result.id ORDER BY run.id, position;

-- For people: how many cables of a result carry how many trees, and the share of those that
-- carry at most so many.
CREATE VIEW load AS
  SELECT run, algorithm, load, links,
    1.0 * sum(links) OVER (PARTITION BY result ORDER BY load) /
      sum(links) OVER (PARTITION BY result) AS share
  FROM histogram JOIN result ON result.id = histogram.result;
