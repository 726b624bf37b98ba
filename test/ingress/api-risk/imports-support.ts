import { randomUUID } from 'node:crypto'
import { eventually } from '../../support/eventually.ts'
import type { ApiClient, Reply } from '../../support/platform-client.ts'

export const BUREAU_FILES = '/v1/colending/bureau-files'
export const TAPES = '/v1/colending/loan-tapes'

export const HEADER = 'id,loan_amnt,funded_amnt,term,int_rate,issue_d,loan_status,out_prncp,total_rec_prncp'

/** A line of consumer notes. */
export function note(id: string, amount = '5000.0'): string {
  return `${id},${amount},5000.0, 36 months, 10.65%,Dec-2015,Fully Paid,0.0,5000.0`
}

/** A banner, a header, three rows of which the last has a bad cell, and a line of totals. */
export const SMALL_TAPE = [
  'Notes offered by prospectus',
  HEADER,
  note('1001'),
  note('1002', '2500.5'),
  note('1003', 'secret-cell'),
  'Total amount funded in policy code 1: 7500',
].join('\r\n')

/** The header of a bureau file of tagged segments. */
export const SEGMENTS_HEADER = `${'TUDF12'.padEnd(54)}30062026`.padEnd(146)

/** The segments of a borrower with one account, whose number has seven characters. */
export function borrower(account: string): string {
  return `PN03N010108ASHA RAOTL04T0010307${account}08080105202612061180001305980001503012ES02**`
}

export async function upload(
  client: ApiClient,
  body: string | Buffer,
  { path = TAPES, type = 'text/csv', key = randomUUID() }: { path?: string; type?: string; key?: string } = {},
): Promise<Reply> {
  return await client.post(path, typeof body === 'string' ? Buffer.from(body) : body, {
    'content-type': type,
    'x-idempotency-key': key,
  })
}

/** Uploads a file and waits until its import has ended. */
export async function imported(
  client: ApiClient,
  body: string | Buffer,
  options: Parameters<typeof upload>[2] = {},
): Promise<Reply> {
  const received = await upload(client, body, options)
  if (received.status !== 202) throw new Error(`${received.status}: ${received.text}`)
  return await ended(client, String(received.headers.get('location')))
}

export async function ended(client: ApiClient, path: string): Promise<Reply> {
  return await eventually(
    'the import to end',
    async () => {
      const answer = await client.get(path)
      return answer.status === 202 ? undefined : answer
    },
    60_000,
  )
}
