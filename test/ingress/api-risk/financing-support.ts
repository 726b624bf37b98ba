import { randomInt } from 'node:crypto'
import { ristretto255_oprf } from '@noble/curves/ed25519.js'
import { rf1Input, rf2Input, rf3Input } from '#shared/risk/first-financing/fingerprint-input.ts'
import { identityOf, ReceivableFields } from '#shared/risk/first-financing/receivable.ts'
import type { ApiClient, Reply } from '../../support/platform-client.ts'
import type { Product } from '../../support/product.ts'

/** A receivable that no other test uses. */
export function receivable(change: object = {}) {
  return {
    supplierGstin: '29AAACR5678D1Z5',
    buyerGstin: '27AAACB1234C1ZF',
    documentType: 'INV',
    documentNumber: `T/${randomInt(1e9)}`,
    documentDate: '2026-05-01',
    totalInr: randomInt(1_000, 1e9),
    ...change,
  }
}

/** A busy machine may need more than the ten seconds that an answer is waited for when nothing is preferred. */
const PATIENT = { Prefer: 'wait=25' }

export async function check(client: ApiClient, body: object): Promise<Reply> {
  return await client.post('/v1/first-financing/checks', body, PATIENT)
}

export async function register(client: ApiClient, body: object): Promise<Reply> {
  return await client.post('/v1/first-financing/registrations', body, PATIENT)
}

/** An action on a registration. */
export async function act(client: ApiClient, id: string, action: string, body: object = {}): Promise<Reply> {
  return await client.post(`/v1/first-financing/registrations/${id}/${action}`, body)
}

/** Types of the events of an organisation, sorted. */
export async function eventsOf(product: Product, client: ApiClient): Promise<string[]> {
  const rows = await product
    .db('events')
    .join('organisations', 'organisations.id', 'events.organisation_id')
    .where('organisations.uuid', client.credentials.organisationId)
    .select('events.type')
  return rows.map(({ type }) => type).sort()
}

/** The GSTIN of a Karnataka company whose PAN ends in these digits, which switch a scenario on. */
export function scenarioGstin(digits: string, checkCharacter: (first14: string) => string | undefined): string {
  const first14 = `29AAACR56${digits}D1Z`
  return first14 + checkCharacter(first14)
}

const { voprf } = ristretto255_oprf
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const bytesOf = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'))

/** An input as a client hides it: hex of the element, and the blind that stays with the client. */
export function blindOf(input: Uint8Array): { input: Uint8Array; blind: Uint8Array; blinded: string } {
  const { blind, blinded } = voprf.blind(Uint8Array.from(input))
  return { input: Uint8Array.from(input), blind, blinded: hex(blinded) }
}

/** The fingerprints of a receivable under every live epoch, which the service evaluates without seeing it. */
export async function blindFingerprints(client: ApiClient, fields: object) {
  const { json } = await client.get('/v1/first-financing/oprf/key')
  const identity = identityOf(ReceivableFields.parse(fields))
  const inputs = [rf1Input(identity), rf2Input(identity), rf3Input(identity)]
  const made = []
  for (const { epoch, publicKey } of json.epochs) {
    const hidden = inputs.map((input) => blindOf(Buffer.from(input)))
    const blinded = hidden.map((one) => one.blinded)
    const answer = await client.post('/v1/first-financing/oprf/evaluate', { epoch, blinded })
    if (answer.status !== 200) throw new Error(answer.text)
    const items = hidden.map((one, index) => ({
      ...one,
      blinded: bytesOf(one.blinded),
      evaluated: bytesOf(answer.json.evaluated[index]),
    }))
    const outputs = voprf.finalizeBatch(items, bytesOf(publicKey), bytesOf(answer.json.proof))
    const [rf1 = '', rf2 = '', rf3 = ''] = outputs.map((output) => hex(output.subarray(0, 32)))
    made.push({ epoch: Number(epoch), rf1, rf2, rf3 })
  }
  return made
}
