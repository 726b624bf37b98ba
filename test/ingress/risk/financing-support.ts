import { randomInt } from 'node:crypto'
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

export async function check(client: ApiClient, body: object): Promise<Reply> {
  return await client.post('/v1/first-financing/checks', body)
}

export async function register(client: ApiClient, body: object): Promise<Reply> {
  return await client.post('/v1/first-financing/registrations', body)
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
