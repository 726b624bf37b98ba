import { randomBytes, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import { toMillis } from '../../time.ts'
import { recordEvent } from '../../webhooks/events/store.ts'
import type { RefusalReason } from '../credentials/refusal.ts'
import { SANDBOX_ISSUER } from '../credentials/sandbox-issuer.ts'
import { namedClaims } from '../credentials/select-claims.ts'
import type { VerifiedResponse } from '../credentials/verify-response.ts'
import { commit } from '../evidence/commitment.ts'
import { anchorRecord } from '../evidence/record-store.ts'
import { MAX_REFUSALS, type Presentation } from '../identity/presentation.ts'
import { setRefused, setVerified } from '../identity/presentation-store.ts'
import { recordUsage } from '../metering/store.ts'
import { instant, type OperationDeps } from './deps.ts'

const HOUR_MS = 3_600_000

/** Ends an attempt that was refused: the request is open again below three refusals, and not after a wallet's error. */
export async function refusePresentation(
  tx: Knex.Transaction,
  presentation: Presentation,
  why: { reason: RefusalReason } | { walletError: string },
  deps: Pick<OperationDeps, 'now'>,
): Promise<void> {
  const isError = 'walletError' in why
  const isOver = isError || presentation.refusals + 1 >= MAX_REFUSALS
  await setRefused(tx, presentation.id, {
    state: isOver ? 'REJECTED' : 'REQUEST_FETCHED',
    reasons: isError ? ['WALLET_ERROR'] : [why.reason],
    walletError: isError ? why.walletError : null,
    at: new Date(toMillis(deps.now())),
  })
}

/** Ends a presentation that was verified: its anchored record, its values sealed, one unit, one event. */
export async function completePresentation(
  tx: Knex.Transaction,
  presentation: Presentation,
  { answers, discarded }: VerifiedResponse,
  deps: OperationDeps,
): Promise<void> {
  const { organisationId, env } = presentation
  const values = namedClaims(presentation.query, answers)
  const { sealed, commitments } = commit(Object.fromEntries(values), randomBytes)
  const timestamp = instant(deps.now())
  const fields = [...values.keys()]
  const record = await anchorRecord(tx, env, 'oid4vp.presentation_verified', timestamp, {
    recordId: randomUUID(),
    presentationId: presentation.id,
    fields,
    ...credentialFacts(answers),
    commitments,
  })
  const now = toMillis(deps.now())
  const [first] = answers
  const isOperators = answers.every(({ credential }) => credential.issuer.isOperators)
  const isHigh = answers.every(({ credential }) => credential.issuer.assurance === 'HIGH')
  const ends = answers.flatMap(({ credential }) => credential.expiresAt ?? [])
  const statuses = answers.flatMap(({ credential: { status, issuer } }) =>
    status ? [{ ...status, iss: issuer.iss }] : [],
  )
  await setVerified(tx, presentation.id, {
    fields,
    issuer: first?.credential.issuer.iss ?? '',
    tier: isOperators ? 'ISSUER_CONFIRMED' : 'DOCUMENT_SIGNED',
    assurance: isOperators && isHigh ? 'HIGH' : 'SUBSTANTIAL',
    credentialExpiresAt: ends.length === 0 ? null : new Date(Math.min(...ends) * 1000),
    discarded,
    record: canonicalize(record),
    sealedValues: deps.secrets.seal('identity', JSON.stringify(sealed)),
    sealedStatus: statuses.length === 0 ? null : deps.secrets.seal('identity', JSON.stringify(statuses)),
    credentialDigests: answers.flatMap(({ credential: { issuer, digest } }) =>
      issuer.iss === SANDBOX_ISSUER ? [digest] : [],
    ),
    purgeAt: new Date(now + presentation.retainHours * HOUR_MS),
    at: new Date(now),
  })
  await recordUsage(tx, { organisationId, env, family: 'identity', unitKey: `presentation/${presentation.id}` })
  await recordEvent(tx, deps.enqueue, {
    env,
    organisationId,
    type: 'oid4vp.presentation_received',
    dealId: presentation.dealId ?? presentation.id,
    fields,
    occurredAt: timestamp,
  })
}

/** Type and issuer of the credential; of several, of each by the id of its query. */
function credentialFacts(answers: VerifiedResponse['answers']) {
  const facts = answers.map(({ query, credential: { vct, issuerKeyThumbprint } }) => ({
    id: query.id,
    vct,
    issuerKeyThumbprint,
  }))
  const [first] = facts
  const { vct = '', issuerKeyThumbprint = '' } = first ?? {}
  return facts.length === 1 ? { vct, issuerKeyThumbprint } : { vct, issuerKeyThumbprint, credentials: facts }
}
