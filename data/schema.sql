-- SPDX-License-Identifier: BSD-2-Clause
-- The database of results that --store writes and fabric-compare reads; fabric-store(5)
-- explains it. Version 1 until the first release.

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
CREATE INDEX run_of_label ON run (label COLLATE NOCASE);
CREATE INDEX run_of_command ON run (command);

-- What belongs to the run as a whole, such as its number of groups.
CREATE TABLE fact (
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  name TEXT NOT NULL,
  value ANY NOT NULL CHECK (typeof(value) IN ('integer', 'real')),
  PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;

-- What the run was asked for, where it is no number: patterns of groups, faults, batches.
CREATE TABLE asked (
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;

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

-- One algorithm of a run.
CREATE TABLE result (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  position INTEGER NOT NULL, -- in the run, from 0
  algorithm TEXT NOT NULL,
  UNIQUE (run, position)
) STRICT;
CREATE INDEX result_of_algorithm ON result (algorithm, run);

-- What was measured, one number a row.
CREATE TABLE metric (
  result INTEGER NOT NULL REFERENCES result ON DELETE CASCADE,
  name TEXT NOT NULL, -- as the field in the JSON output
  value ANY NOT NULL CHECK (typeof(value) IN ('integer', 'real')),
  PRIMARY KEY (result, name)
) STRICT, WITHOUT ROWID;

-- Distribution of loads: cables by number of trees.
CREATE TABLE histogram (
  result INTEGER NOT NULL REFERENCES result ON DELETE CASCADE,
  load INTEGER NOT NULL,
  links INTEGER NOT NULL,
  PRIMARY KEY (result, load)
) STRICT, WITHOUT ROWID;

-- What a result is made of: sets of faults, numbers of faults. One number a row.
CREATE TABLE detail (
  result INTEGER NOT NULL REFERENCES result ON DELETE CASCADE,
  position INTEGER NOT NULL, -- of the part in the result, from 0
  part TEXT NOT NULL,        -- its name: what is dead
  name TEXT NOT NULL,        -- what is measured, as the field in the JSON output
  value ANY NOT NULL CHECK (typeof(value) IN ('integer', 'real')),
  PRIMARY KEY (result, position, name)
) STRICT, WITHOUT ROWID;

-- One batch of nodes that boot together by one mapping and model: what fabric-bootplan computed
-- for every batch of a sweep. Those of the largest batch are results, too.
CREATE TABLE batch (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  position INTEGER NOT NULL, -- in the run, from 0
  algorithm TEXT NOT NULL,   -- as in result
  name TEXT NOT NULL,        -- as --boot has it
  nodes INTEGER NOT NULL,
  servers INTEGER NOT NULL,
  bandwidth_mbps REAL, -- null: no limit
  boot_seconds REAL,   -- null: some nodes never boot
  bottleneck TEXT,     -- null: no limit
  UNIQUE (run, position)
) STRICT;

-- The kinds of segments that a batch uses, by equal shares.
CREATE TABLE segment (
  batch INTEGER NOT NULL REFERENCES batch ON DELETE CASCADE,
  position INTEGER NOT NULL, -- from 0, the nodes' first
  name TEXT NOT NULL,
  capacity_mbps REAL,            -- of the tightest one; null: no limit
  max_sharers INTEGER NOT NULL,  -- most nodes on any one
  share_mbps REAL NOT NULL,      -- least share of a node
  tightest TEXT NOT NULL,        -- which one that is
  PRIMARY KEY (batch, position)
) STRICT, WITHOUT ROWID;

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

-- For people: the runs, newest first, a line each.
CREATE VIEW runs AS
  SELECT run.id AS run, time, label, source, fingerprint,
    (SELECT value FROM fact WHERE run = run.id AND name = 'groups') AS groups,
    (SELECT group_concat(algorithm, ' ')
      FROM (SELECT algorithm FROM result WHERE run = run.id ORDER BY position)) AS algorithms,
    command, arguments,
    (SELECT number || '/' || count FROM shard WHERE run = run.id) AS shard
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

-- For people: a line for each mapping and model of each run of fabric-bootplan.
CREATE VIEW bootplan AS
  SELECT run.id AS run, time, label, source, fingerprint, algorithm,
    (SELECT value FROM fact WHERE fact.run = run.id AND name = 'nodes') AS nodes,
    max(iif(metric.name = 'servers', value, NULL)) AS servers,
    max(iif(metric.name = 'bandwidth_mbps', value, NULL)) AS bandwidth_mbps,
    max(iif(metric.name = 'boot_seconds', value, NULL)) AS boot_seconds
  FROM run JOIN result ON result.run = run.id JOIN metric ON metric.result = result.id
  WHERE command = 'fabric-bootplan'
  GROUP BY result.id ORDER BY run.id, position;

-- For people: a line for each algorithm of each run of fabric-faults.
CREATE VIEW faults AS
  SELECT run.id AS run, time, label, source, fingerprint, algorithm,
    (SELECT value FROM fact WHERE fact.run = run.id AND name = 'faults') AS faults,
    (SELECT value FROM fact WHERE fact.run = run.id AND name = 'sets') AS sets,
    max(iif(metric.name = 'pairs', value, NULL)) AS pairs,
    max(iif(metric.name = 'unreachable', value, NULL)) AS unreachable,
    max(iif(metric.name = 'vls', value, NULL)) AS vls,
    max(iif(metric.name = 'sls', value, NULL)) AS sls,
    max(iif(metric.name = 'deadlock_free', value, NULL)) AS deadlock_free,
    max(iif(metric.name = 'load', value, NULL)) AS load
  FROM run JOIN result ON result.run = run.id JOIN metric ON metric.result = result.id
  WHERE command = 'fabric-faults'
  GROUP BY result.id ORDER BY run.id, position;

-- For people: a line for each scheme of each run of fabric-rdma, of a sweep for its last point.
CREATE VIEW rdma AS
  SELECT run.id AS run, time, label, source, fingerprint, algorithm AS scheme,
    max(iif(metric.name = 'loss', value, NULL)) AS loss,
    max(iif(metric.name = 'size', value, NULL)) AS size,
    max(iif(metric.name = 'window', value, NULL)) AS window,
    max(iif(metric.name = 'completion_us.mean', value, NULL)) AS completion_us,
    max(iif(metric.name = 'ratio_to_oracle', value, NULL)) AS ratio_to_oracle,
    max(iif(metric.name = 'rounds', value, NULL)) AS rounds,
    max(iif(metric.name = 'hung', value, NULL)) AS hung,
    max(iif(metric.name = 'context_bits', value, NULL)) AS context_bits
  FROM run JOIN result ON result.run = run.id JOIN metric ON metric.result = result.id
  WHERE command = 'fabric-rdma'
  GROUP BY result.id ORDER BY run.id, position;

-- For people: the same, a line for each point of a sweep.
CREATE VIEW rdma_point AS
  SELECT run.id AS run, algorithm AS scheme, part AS point,
    max(iif(detail.name = 'completion_us.mean', value, NULL)) AS completion_us,
    max(iif(detail.name = 'completion_us.p99', value, NULL)) AS completion_p99_us,
    max(iif(detail.name = 'ratio_to_oracle', value, NULL)) AS ratio_to_oracle,
    max(iif(detail.name = 'rounds', value, NULL)) AS rounds,
    max(iif(detail.name = 'hung', value, NULL)) AS hung
  FROM run JOIN result ON result.run = run.id JOIN detail ON detail.result = result.id
  WHERE command = 'fabric-rdma'
  GROUP BY result.id, detail.position ORDER BY run.id, detail.position, result.position;

-- For people: a line for each batch, mapping and model of each run of fabric-bootplan.
CREATE VIEW sweep AS
  SELECT run.id AS run, time, label, source, fingerprint, algorithm, batch.name AS batch, nodes,
    servers, bandwidth_mbps, boot_seconds, bottleneck
  FROM run JOIN batch ON batch.run = run.id
  ORDER BY run.id, position;

-- For people: the same, a line for each kind of segment.
CREATE VIEW share AS
  SELECT run, algorithm, batch.name AS batch, nodes, segment.name AS segment, capacity_mbps,
    max_sharers, share_mbps, tightest
  FROM batch JOIN segment ON segment.batch = batch.id
  ORDER BY run, batch.position, segment.position;
