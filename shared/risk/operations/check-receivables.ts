import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import type { Owner } from '../../jobs/job.ts'
import { commit } from '../evidence/commitment.ts'
import { anchorRecord } from '../evidence/record-store.ts'
import { checkStatus, type DisclosedMatch, disclosed } from '../first-financing/check-answer.ts'
import type { Fingerprint } from '../first-financing/fingerprint.ts'
import { countSightings } from '../first-financing/registration-store.ts'
import { findLatestSnapshot } from '../first-financing/snapshot-store.ts'
import { type FoundMatch, findMatches, isAnyUncovered } from '../first-financing/store.ts'
import { recordUnits } from '../metering/store.ts'
import { instant, type OperationDeps } from './deps.ts'

const EVENT_TYPE = 'first_financing.checked'

export interface ReceivableCheck extends Owner {
  checkId: string
  fingerprints: readonly Fingerprint[]
  /** under the epochs that the fingerprints name */
  isBlind: boolean
  statement: boolean
  /** of the sandbox's scenarios */
  added: readonly DisclosedMatch[]
  isResolved: boolean
}

/** One statement for all checks. */
export async function findReceivableMatches(
  tx: Knex,
  checks: readonly ReceivableCheck[],
): Promise<ReadonlyMap<ReceivableCheck, FoundMatch[]>> {
  const found = await findMatches(
    tx,
    checks.map(({ checkId, ...check }) => ({ ...check, recordId: checkId })),
  )
  const byIndex = Map.groupBy(found, ({ index }) => index)
  return new Map(checks.map((check, index) => [check, byIndex.get(index) ?? []]))
}

/** `found` is the result of `findReceivableMatches` in this transaction; `writes` is for statements without a result. */
export async function checkReceivables(
  tx: Knex.Transaction,
  checks: readonly ReceivableCheck[],
  found: ReadonlyMap<ReceivableCheck, readonly FoundMatch[]>,
  { now, writes }: Pick<OperationDeps, 'now'> & { writes: Knex },
): Promise<object[]> {
  const asOf = instant(now())
  const isCovered = coversOf(tx)
  const answers: object[] = []
  for (const check of checks) {
    const matches = disclosed([...(found.get(check) ?? []), ...check.added])
    const status = checkStatus(matches, check.isResolved && (!check.isBlind || (await isCovered(check))))
    const statement = check.statement ? await statementOf(tx, check, status, asOf) : { record: null }
    answers.push({
      checkId: check.checkId,
      status,
      mode: check.isBlind ? 'BLIND' : 'FIELDS',
      asOf,
      matches,
      ...statement,
    })
  }
  await countSightings(
    writes,
    checks
      .flatMap((check) => found.get(check) ?? [])
      .filter((match) => match.class === 'EXACT' && match.isRegistration && !match.ownRegistration)
      .map(({ recordId }) => recordId),
  )
  await recordUnits(
    writes,
    checks.map(({ organisationId, env, checkId }) => ({
      organisationId,
      env,
      family: 'first-financing' as const,
      unitKey: `check/${checkId}`,
    })),
  )
  return answers
}

/** The epochs of a check must cover all live records. */
function coversOf(tx: Knex.Transaction): (check: ReceivableCheck) => Promise<boolean> {
  const known = new Map<string, boolean>()
  return async ({ env, fingerprints }) => {
    const epochs = [...new Set(fingerprints.map(({ epoch }) => epoch))]
    const name = [env, ...epochs].join()
    const isCovered = known.get(name) ?? !(await isAnyUncovered(tx, env, epochs))
    known.set(name, isCovered)
    return isCovered
  }
}

/** The salt lets the caller prove which receivable the check was about. */
async function statementOf(tx: Knex.Transaction, check: ReceivableCheck, result: string, timestamp: string) {
  const [exact] = check.fingerprints.filter(({ kind }) => kind === 'RF1')
  const rf1 = exact?.value ?? ''
  const snapshot = await findLatestSnapshot(tx, check.env, exact?.epoch)
  const { sealed, commitments } = commit({ rf1 }, randomBytes)
  const facts = {
    statementId: check.checkId,
    result,
    rf1Commitment: commitments[0]?.commitment ?? '',
    snapshotId: snapshot?.id ?? null,
  }
  const record = await anchorRecord(tx, check.env, EVENT_TYPE, timestamp, facts)
  return { record, opening: { rf1, salt: sealed[0]?.salt ?? '' } }
}
