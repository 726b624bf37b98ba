import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { CreatedClient } from '../../ingress/admin/create-client.ts'
import { clientWith, demoTriple, type Reply, requestToken } from '../support/platform-client.ts'

const packShape = z.object({ packId: z.string(), anchor: z.object({ txId: z.string() }) })
const queuedShape = z.object({ links: z.object({ self: z.string() }) })
const tokenShape = z.object({ access_token: z.string() })

/** A pack with the exact text of its response. */
export interface AnsweredPack {
  packId: string
  txId: string
  text: string
}

/** Requests packs, with retries under one idempotency key until the result is known. */
export interface PackClient {
  post(path: string, body: unknown): Promise<Reply>
  /** @param found gets a line if the request is refused. @returns null then */
  request(found: string[]): Promise<AnsweredPack | null>
}

/** @param base returns the listeners in rotation */
export function openPackClient(base: () => string, credentials: CreatedClient): PackClient {
  let token = ''
  const renew = async () => {
    const { clientId, clientSecret } = credentials
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
    const answer = await requestToken(base(), form)
    if (answer.status === 200) token = tokenShape.parse(answer.json).access_token
  }
  const client = () => clientWith(base(), token, credentials)
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    if (token === '') await renew()
    return await client().post(path, body, headers)
  }
  return {
    post,
    async request(found) {
      const key = { 'x-idempotency-key': randomUUID() }
      const body = { mode: 'LIVE', ...demoTriple, poValue: 1_250_000 }
      /** URL to poll after a 202 response */
      let self: string | null = null
      for (;;) {
        const requested: Promise<Reply> = self === null ? post('/v1/po/risk-signals', body, key) : client().get(self)
        const answer: Reply | null = await requested.catch(() => null)
        const ready = packShape.safeParse(answer?.json).data
        if (answer?.status === 200 && ready) {
          return { packId: ready.packId, txId: ready.anchor.txId, text: answer.text }
        }
        if (answer?.status === 401) await renew().catch(() => undefined)
        else if (answer?.status === 202) self = queuedShape.safeParse(answer.json).data?.links.self ?? self
        else if (answer && answer.status >= 400 && answer.status < 500 && answer.status !== 409) {
          found.push(`a pack was refused: ${answer.status} ${answer.text.slice(0, 200)}`)
          return null
        }
        await sleep(500)
      }
    },
  }
}
