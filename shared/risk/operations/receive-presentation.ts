import { hash, randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import { presentationReceived } from '../../contracts/presentation-received.ts'
import { toMillis } from '../../time.ts'
import { type Presentation, stateAt } from '../identity/presentation.ts'
import { lockPresentation, setReceived } from '../identity/presentation-store.ts'
import type { OperationDeps } from './deps.ts'

/** Whether an answer of a wallet was taken, or why not. */
export type Received =
  | { taken: true; responseCode: string | null }
  | { taken: false; reason: 'EXPIRED' | 'ALREADY_USED' }

/** Takes the form that a wallet posted, seals it and has it verified. One at a time, while the request is open. */
export async function receivePresentation(
  tx: Knex.Transaction,
  { id }: Pick<Presentation, 'id'>,
  answer: { form: string; replyTo: string },
  deps: OperationDeps,
): Promise<Received> {
  const presentation = await lockPresentation(tx, id)
  const nowMs = toMillis(deps.now())
  const state = presentation && stateAt(presentation, nowMs)
  if (!presentation || state === 'EXPIRED') return { taken: false, reason: 'EXPIRED' }
  if (state !== 'CREATED' && state !== 'REQUEST_FETCHED') return { taken: false, reason: 'ALREADY_USED' }
  const responseCode = presentation.redirectUri === null ? null : randomBytes(32).toString('base64url')
  await setReceived(tx, id, {
    sealedForm: deps.secrets.seal('presentation', answer.form),
    responseCodeDigest: responseCode === null ? null : hash('sha256', responseCode, 'buffer'),
    at: new Date(nowMs),
  })
  await deps.enqueue(presentationReceived, { presentationId: id, replyTo: answer.replyTo })
  return { taken: true, responseCode }
}
