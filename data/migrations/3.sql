-- SPDX-License-Identifier: BSD-2-Clause
-- From version 3 to 4: runs that are one shard of a sweep, and how metrics of shards are merged.

-- A run that is one shard of a sweep: every count-th item, from the number-th on. Shards of one
-- sweep have the same job and input.
CREATE TABLE shard (
  run INTEGER PRIMARY KEY REFERENCES run ON DELETE CASCADE,
  number INTEGER NOT NULL,    -- from 1
  count INTEGER NOT NULL,
  unit TEXT NOT NULL,         -- what the items are: sets of faults, trials, batches
  items INTEGER NOT NULL,     -- of the shard
  all_items INTEGER NOT NULL, -- of the sweep
  job TEXT NOT NULL,          -- arguments, but for those that say where and how it runs
  input TEXT NOT NULL         -- 0x and 16 digits: what files and names stood for
) STRICT;

ALTER TABLE metric_kind RENAME TO old_kind;
-- Which metrics a command has, and whether less or more of one is better. Every run brings
-- those of its command.
CREATE TABLE metric_kind (
  command TEXT NOT NULL,
  name TEXT NOT NULL,
  position INTEGER NOT NULL,                      -- the order in which people read them
  better TEXT CHECK (better IN ('less', 'more')), -- null: neither
  is_time INTEGER NOT NULL DEFAULT 0,             -- 1: differs from run to run
  unit TEXT,                                      -- s, Mb/s, B; null: a plain number
  help TEXT NOT NULL,
  merge TEXT CHECK (merge IN ('sum', 'max', 'all')), -- of shards; null: cannot be merged
  PRIMARY KEY (command, name)
) STRICT, WITHOUT ROWID;
INSERT INTO metric_kind (command, name, position, better, is_time, unit, help)
  SELECT command, name, position, better, is_time, unit, help FROM old_kind;
-- those that are yes or no
UPDATE metric_kind SET merge = 'all' WHERE name IN ('deadlock_free', 'verified');
DROP TABLE old_kind;

DROP VIEW runs;
-- For people: the runs, newest first, a line each.
CREATE VIEW runs AS
  SELECT run.id AS run, time, label, source, fingerprint,
    (SELECT value FROM fact WHERE run = run.id AND name = 'groups') AS groups,
    (SELECT group_concat(algorithm, ' ')
      FROM (SELECT algorithm FROM result WHERE run = run.id ORDER BY position)) AS algorithms,
    command, arguments,
    (SELECT number || '/' || count FROM shard WHERE run = run.id) AS shard
  FROM run ORDER BY run.id DESC;
