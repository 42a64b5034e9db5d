-- SPDX-License-Identifier: BSD-2-Clause
-- From version 4 to 5: views of the runs of fabric-rdma.

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
