import type { Knex } from 'knex'
import type { DomainError } from '../errors.ts'
import { columns, execute, query, typed } from '../platform/database/sql.ts'
import { type EvidenceJob, type JobKind, type JobOutcome, type Owner, refusalBody, refusalOf } from './job.ts'

export interface NewJob extends Owner {
  id: string
  kind: JobKind
  idempotencyKey: string | null
  sealedRequest: string
  /** 32 bytes, equal for equal requests, which then share one job; null for a separate job */
  jobKey: Buffer | null
}

export async function insertJob(tx: Knex, job: NewJob): Promise<string> {
  const [row] = await query<{ id: string }>(
    tx,
    `INSERT INTO evidence_jobs (id, organisation_id, env, kind, idempotency_key, job_key, sealed_request)
     VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (organisation_id, env, kind, job_key) WHERE job_key IS NOT NULL
     DO UPDATE SET job_key = excluded.job_key RETURNING id`,
    [job.id, job.organisationId, job.env, job.kind, job.idempotencyKey, job.jobKey, job.sealedRequest],
  )
  return row?.id ?? job.id
}

const EVIDENCE_JOB_COLUMNS = columns<EvidenceJob>()(`
  j.id, j.organisation_id, o.uuid AS organisationUuid, j.env, j.kind, j.idempotency_key, j.sealed_request, j.state`)

/** Omits jobs whose organisation was deleted, because they are deleted with it. */
export async function findJobs(db: Knex, ids: readonly string[]): Promise<EvidenceJob[]> {
  return await query(
    db,
    typed`SELECT ${EVIDENCE_JOB_COLUMNS}
     FROM evidence_jobs j JOIN organisations o ON o.id = j.organisation_id WHERE j.id = ANY(?::uuid[])`,
    [[...ids]],
  )
}

/**
 * Stores the result of a job, also under its idempotency key. With `forget`, an equal request starts another job instead
 * of sharing this one.
 */
export async function finishJob(
  tx: Knex.Transaction,
  job: EvidenceJob,
  answer: { status: number; body: string; forget?: boolean },
): Promise<void> {
  await execute(
    tx,
    `WITH done AS (
       UPDATE evidence_jobs SET state = 'DONE', status = ?, body = ?, sealed_request = NULL, finished_at = now(),
         job_key = CASE WHEN ? THEN NULL ELSE job_key END
       WHERE id = ?)
     UPDATE idempotency_keys SET status = ?, headers = '{}', body = ?, lease_until = NULL
     WHERE organisation_id = ? AND env = ? AND key = ? AND lease_until > now()`,
    [
      answer.status,
      answer.body,
      answer.forget === true,
      job.id,
      answer.status,
      answer.body,
      job.organisationId,
      job.env,
      job.idempotencyKey,
    ],
  )
}

/** Stores the results of several jobs with status 200; see `finishJob`. */
export async function finishJobs(
  tx: Knex.Transaction,
  jobs: readonly { job: EvidenceJob; body: string }[],
): Promise<void> {
  await execute(
    tx,
    `WITH given AS (SELECT * FROM unnest(?::uuid[], ?::text[]) AS t(id, body)),
     done AS (
       UPDATE evidence_jobs j SET state = 'DONE', status = 200, body = g.body, sealed_request = NULL,
         finished_at = now() FROM given g WHERE j.id = g.id
       RETURNING j.organisation_id, j.env, j.idempotency_key, g.body)
     UPDATE idempotency_keys k SET status = 200, headers = '{}', body = d.body, lease_until = NULL
     FROM done d WHERE k.organisation_id = d.organisation_id AND k.env = d.env AND k.key = d.idempotency_key
       AND k.lease_until > now()`,
    [jobs.map(({ job }) => job.id), jobs.map(({ body }) => body)],
  )
}

export async function claimJobs(tx: Knex.Transaction, ids: readonly string[]): Promise<Set<string>> {
  const rows = await query<{ id: string }>(
    tx,
    `SELECT id FROM evidence_jobs WHERE id = ANY(?::uuid[]) AND state = 'QUEUED' ORDER BY id FOR UPDATE`,
    [[...ids]],
  )
  return new Set(rows.map(({ id }) => id))
}

/** Stores a refusal, and releases the idempotency key for a corrected request. */
export async function refuseJob(tx: Knex.Transaction, job: EvidenceJob, refusal: DomainError): Promise<void> {
  await execute(
    tx,
    `WITH refused AS (
       UPDATE evidence_jobs SET state = 'REFUSED', body = ?, sealed_request = NULL, job_key = NULL,
         finished_at = now() WHERE id = ?)
     DELETE FROM idempotency_keys WHERE organisation_id = ? AND env = ? AND key = ? AND lease_until > now()`,
    [refusalBody(refusal), job.id, job.organisationId, job.env, job.idempotencyKey],
  )
}

const OUTCOME_COLUMNS = columns<{ state: JobOutcome['state']; status: number | null; body: string | null }>()(`
  state, status, body`)

export async function findOutcome(db: Knex, owner: Owner, kind: JobKind, id: string): Promise<JobOutcome | undefined> {
  const [row] = await query(
    db,
    typed`SELECT ${OUTCOME_COLUMNS} FROM evidence_jobs WHERE id = ? AND organisation_id = ? AND env = ? AND kind = ?`,
    [id, owner.organisationId, owner.env, kind],
  )
  if (!row) return undefined
  if (row.state === 'DONE') return { state: 'DONE', status: row.status ?? 200, body: row.body ?? '' }
  return row.state === 'REFUSED' ? { state: 'REFUSED', refusal: refusalOf(row.body ?? '{}') } : { state: 'QUEUED' }
}
