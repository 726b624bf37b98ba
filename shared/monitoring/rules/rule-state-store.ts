import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import type { Prepared, RunPrepared } from '../../platform/database/prepared.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Source } from './quorum.ts'
import type { RuleState } from './rule-state.ts'
import { NO_TALLY, RUN_LOG, type Run, type RunBook, type RunRule, SLOW, type Tally } from './run.ts'
import type { SourceRule } from './source-rule.ts'

const RUN = `json_build_object('n', n, 'rid', rid, 'source', source, 'startedAt', ${microsOf('started_at')},
  'finishedAt', ${microsOf('finished_at')}, 'duration', duration_us, 'outcome', outcome,
  'deadline', ${microsOf('deadline')}, 'flags', flags)`

const factColumns = (rids: string) =>
  columns<FactRow>({
    checkId: 'r.check_id',
    runRule: 'r.run',
    sourceRule: 'r.sources',
    tally: `
    (SELECT json_build_object('runs', t.runs, 'beganAt', ${microsOf('t.began_at')}, 'missed', t.missed,
       'streak', t.streak, 'buckets', t.buckets, 'measured', t.measured, 'seconds', t.seconds,
       'abandonedAt', ${microsOf('t.abandoned_at')}, 'expectedFrom', ${microsOf('t.expected_from')})
     FROM check_tallies t WHERE t.check_id = r.check_id)`,
    open: `
    (SELECT json_agg(${RUN} ORDER BY n) FROM runs
     WHERE check_id = r.check_id AND outcome = 'open' AND r.run IS NOT NULL)`,
    headless: `
    (SELECT json_agg(${RUN} ORDER BY n) FROM runs
     WHERE check_id = r.check_id AND r.run IS NOT NULL AND started_at IS NULL AND rid = ANY(${rids}::uuid[]))`,
    p95: `
    CASE WHEN jsonb_typeof(r.run->'slow') = 'number' THEN (
      SELECT CASE WHEN count(*) >= ${SLOW.least} THEN percentile_disc(${SLOW.share}) WITHIN GROUP (ORDER BY duration_us) END
      FROM (SELECT duration_us FROM runs
            WHERE check_id = r.check_id AND outcome = 'success' AND duration_us IS NOT NULL
            ORDER BY n DESC LIMIT ${SLOW.of}) newest) END`,
    sources: `
    (SELECT json_agg(json_build_object('name', name, 'heardAt', ${microsOf('heard_at')},
       'lastPing', ${microsOf('last_ping')}, 'lastKind', last_kind, 'deadlineExtendedAt', ${microsOf('deadline_extended_at')})
       ORDER BY name)
     FROM ping_sources WHERE check_id = r.check_id AND r.sources IS NOT NULL)`,
  })

interface FactRow {
  checkId: number
  runRule: RunRule | null
  sourceRule: SourceRule | null
  tally: (Tally & { expectedFrom: number | null }) | null
  open: Run[] | null
  headless: Run[] | null
  p95: number | null
  sources: Source[] | null
}

const READ_FACTS = {
  name: 'read-ruled-facts',
  text: typed`SELECT ${factColumns('$2')} FROM check_rules r WHERE r.check_id = ANY($1::bigint[])`,
} satisfies Prepared

const FIND_FACTS = typed`SELECT ${factColumns('?')} FROM check_rules r WHERE r.check_id = ANY(?::bigint[])`

/** `rids` are the run ids of signals that will be applied. */
export async function readFacts(
  run: RunPrepared,
  checkIds: readonly number[],
  rids: readonly string[],
): Promise<Map<number, RuleState>> {
  return toFacts(await run(READ_FACTS, [checkIds, rids]))
}

/** For use outside of the evaluator. The caller has locked the checks. */
export async function findFacts(db: Knex, checkIds: readonly number[]): Promise<Map<number, RuleState>> {
  return toFacts(await query(db, FIND_FACTS, [[], checkIds]))
}

function toFacts(rows: readonly FactRow[]): Map<number, RuleState> {
  return new Map(
    rows.map((row) => [
      row.checkId,
      {
        checkId: row.checkId,
        runs: row.runRule && toBook(row, row.runRule),
        sources: row.sourceRule && {
          rule: row.sourceRule,
          expectedFrom: row.tally?.expectedFrom ?? null,
          sources: row.sources ?? [],
          changed: new Set(),
        },
      },
    ]),
  )
}

function toBook(row: FactRow, rule: RunRule): RunBook {
  const tally = row.tally ?? { ...NO_TALLY, buckets: [...NO_TALLY.buckets] }
  return { rule, open: row.open ?? [], headless: row.headless ?? [], tally, p95: row.p95, changed: new Set() }
}

/** Writes at the latest with the commit. The caller has locked the checks. */
export function saveFacts(run: RunPrepared, facts: readonly RuleState[]): void {
  if (facts.length > 0) run.later(SAVE, savedValues(facts))
}

export async function storeFacts(db: Knex, facts: readonly RuleState[]): Promise<void> {
  if (facts.length > 0) await execute(db, SAVE.text.replace(/\$\d/g, '?'), savedValues(facts))
}

function savedValues(facts: readonly RuleState[]): [string, string, string] {
  const runs = facts.flatMap(({ checkId, runs: book }) =>
    book
      ? [...book.changed]
          .filter(({ n }) => n > book.tally.runs - RUN_LOG)
          .map((it) => ({ ...it, checkId, slot: it.n % RUN_LOG }))
      : [],
  )
  const tallies = facts.map(({ checkId, runs: book, sources }) => ({
    ...(book?.tally ?? null),
    checkId,
    expectedFrom: sources?.expectedFrom ?? null,
  }))
  const sources = facts.flatMap(({ checkId, sources: quorum }) =>
    quorum ? [...quorum.changed].map((source) => ({ ...source, checkId })) : [],
  )
  return [JSON.stringify(runs), JSON.stringify(tallies), JSON.stringify(sources)]
}

const SAVE: Prepared = {
  name: 'save-ruled-facts',
  text: `
  WITH stored AS (
    INSERT INTO runs (check_id, slot, n, rid, source, started_at, finished_at, duration_us, outcome, deadline, flags)
    SELECT "checkId", slot, n, rid, source, ${timestampOf('"startedAt"')}, ${timestampOf('"finishedAt"')}, duration,
           outcome, ${timestampOf('deadline')}, flags
    FROM jsonb_to_recordset($1::jsonb) AS t("checkId" bigint, slot int, n bigint, rid uuid, source text,
      "startedAt" bigint, "finishedAt" bigint, duration bigint, outcome text, deadline bigint, flags text[])
    ON CONFLICT (check_id, slot) DO UPDATE SET n = excluded.n, rid = excluded.rid, source = excluded.source,
      started_at = excluded.started_at, finished_at = excluded.finished_at, duration_us = excluded.duration_us,
      outcome = excluded.outcome, deadline = excluded.deadline, flags = excluded.flags
    RETURNING 1),
  counted AS (
    INSERT INTO check_tallies AS t (check_id, runs, began_at, missed, streak, buckets, measured, seconds, abandoned_at,
                                    expected_from)
    SELECT "checkId", coalesce(runs, 0), ${timestampOf('"beganAt"')}, coalesce(missed, 0), coalesce(streak, 0),
           coalesce(buckets, '{0,0,0,0,0,0,0,0,0,0,0,0}'), coalesce(measured, 0), coalesce(seconds, 0),
           ${timestampOf('"abandonedAt"')}, ${timestampOf('"expectedFrom"')}
    FROM jsonb_to_recordset($2::jsonb) AS t("checkId" bigint, runs bigint, "beganAt" bigint, missed bigint,
      streak bigint, buckets bigint[], measured bigint, seconds double precision, "abandonedAt" bigint,
      "expectedFrom" bigint)
    ON CONFLICT (check_id) DO UPDATE SET runs = greatest(t.runs, excluded.runs),
      began_at = coalesce(excluded.began_at, t.began_at), missed = greatest(t.missed, excluded.missed),
      streak = CASE WHEN excluded.runs > 0 THEN excluded.streak ELSE t.streak END,
      buckets = CASE WHEN excluded.runs > 0 THEN excluded.buckets ELSE t.buckets END,
      measured = greatest(t.measured, excluded.measured), seconds = greatest(t.seconds, excluded.seconds),
      abandoned_at = coalesce(excluded.abandoned_at, t.abandoned_at),
      expected_from = coalesce(excluded.expected_from, t.expected_from)
    RETURNING 1)
  INSERT INTO ping_sources (check_id, name, heard_at, last_ping, last_kind, deadline_extended_at)
  SELECT "checkId", name, ${timestampOf('"heardAt"')}, ${timestampOf('"lastPing"')}, "lastKind",
         ${timestampOf('"deadlineExtendedAt"')}
  FROM jsonb_to_recordset($3::jsonb) AS t("checkId" bigint, name text, "heardAt" bigint, "lastPing" bigint,
    "lastKind" text, "deadlineExtendedAt" bigint)
  ON CONFLICT (check_id, name) DO UPDATE SET heard_at = excluded.heard_at, last_ping = excluded.last_ping,
    last_kind = excluded.last_kind, deadline_extended_at = excluded.deadline_extended_at`,
}

/** The caller has locked the check. */
export async function saveRuling(
  tx: Knex,
  checkId: number,
  { ruleBits, alertAfter }: { ruleBits: number; alertAfter: number | null },
): Promise<void> {
  await execute(tx, `UPDATE checks SET rule_bits = ?, alert_after = ${timestampOf('?::bigint')} WHERE id = ?`, [
    ruleBits,
    alertAfter,
    checkId,
  ])
}

/** Sources are expected from now on, or from the first ping. Deletes those that are not expected. */
export async function expectSources(tx: Knex, checkId: number, names: readonly string[] | null): Promise<void> {
  await execute(
    tx,
    `INSERT INTO check_tallies (check_id, expected_from)
     SELECT id, CASE WHEN last_ping IS NOT NULL THEN now() END FROM checks WHERE id = ?
     ON CONFLICT (check_id) DO UPDATE SET expected_from = excluded.expected_from`,
    [checkId],
  )
  if (names !== null)
    await execute(tx, 'DELETE FROM ping_sources WHERE check_id = ? AND name <> ALL(?::text[])', [checkId, names])
}

export async function forgetOpenRuns(tx: Knex, checkId: number): Promise<void> {
  await execute(tx, "UPDATE runs SET outcome = 'abandoned' WHERE check_id = ? AND outcome = 'open'", [checkId])
}

export async function deleteSource(tx: Knex, checkId: number, name: string): Promise<boolean> {
  return (await execute(tx, 'DELETE FROM ping_sources WHERE check_id = ? AND name = ?', [checkId, name])) === 1
}
