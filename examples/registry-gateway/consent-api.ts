import { timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { type Answer, jsonAnswer, PATTERNS, refusalAnswer } from './adapter.ts'
import type { SetuClient } from './adapters/setu.ts'
import type { Work } from './calls.ts'
import type { ConsentData } from './consent-data.ts'
import type { ConsentRecord, Consents, NamedConsent } from './consents.ts'
import { Refusal } from './rules.ts'
import type { AdminRequest } from './server.ts'
import { isAllowedAddress } from './settings.ts'

export interface ConsentApi {
  handle(request: AdminRequest): Promise<Answer | undefined>
  states(): Record<string, number>
}

interface Parts {
  client: SetuClient
  consents: Consents
  data: ConsentData
  /** part of the address that the aggregator notifies */
  notifySecret: string
  work: (operation: string) => Work
  /** deletes cached answers that depend on a consent */
  forget: () => void
}

const FI_TYPES = { deposits: 'DEPOSIT', returns: 'GSTR1_3B' } as const

const newConsent = z.strictObject({
  pan: z.string().regex(PATTERNS.pan, 'must be a PAN'),
  gstins: z.array(z.string().regex(PATTERNS.gstin, 'must be a registration')).max(50).default([]),
  mobile: z.string().regex(/^[6-9][0-9]{9}$/, 'must be a mobile number of 10 digits'),
  for: z.array(z.enum(['deposits', 'returns'])).min(1, 'must name deposits, returns or both'),
  redirectUrl: z.string().refine(isAllowedAddress, 'must be an https address'),
})
const joining = z.strictObject({ handles: z.array(z.string()).min(2, 'must have two handles or more').max(10) })
const notification = z.looseObject({ consentId: z.string().optional() })

/** API for the system of the lender, which manages consents, and for notifications of the aggregator. */
export function createConsentApi(parts: Parts): ConsentApi {
  const { client, consents, data } = parts

  async function create({ readBody, organisation }: AdminRequest): Promise<Answer> {
    const input = newConsent.parse(JSON.parse(await readBody()))
    if (input.gstins.some((gstin) => gstin.slice(2, 12) !== input.pan)) return wrong('gstins', 'must be of the PAN')
    const fiTypes = input.for.map((name) => FI_TYPES[name])
    const work = parts.work('/consents')
    const { mobile, redirectUrl } = input
    const { id, url } = await client.create({ mobile, fiTypes, redirectUrl }, work)
    const nowMs = work.deps.now()
    const handle = consents.create({
      pan: input.pan,
      gstins: input.gstins,
      organisation,
      consentId: id,
      fiTypes,
      nowMs,
    })
    return jsonAnswer(201, { handle, url, status: 'PENDING' })
  }

  async function join({ readBody, organisation }: AdminRequest): Promise<Answer> {
    const { handles } = joining.parse(JSON.parse(await readBody()))
    return jsonAnswer(201, { handle: consents.join(handles, organisation) })
  }

  async function revoke(named: readonly NamedConsent[]): Promise<Answer> {
    // The data is deleted even if the aggregator does not answer; the request can then be repeated.
    for (const consent of named) erase(consent, {})
    for (const consent of named) {
      await client.revoke(consent.record.consentId, parts.work('/consents')).catch((error: unknown) => {
        if (!(error instanceof Refusal) || !error.code.includes('CONSENT')) throw error
      })
      erase(consent, { status: 'REVOKED' })
    }
    return jsonAnswer(200, { status: 'REVOKED' })
  }

  function erase(consent: NamedConsent, change: Partial<ConsentRecord>): void {
    const isDataEnded = consent.record.isDataEnded || consent.record.held !== null
    Object.assign(consent.record, { held: null, session: null, isDataEnded, ...change })
    consents.save(consent)
    parts.forget()
  }

  async function notified(body: string): Promise<Answer> {
    const hint = notification.safeParse(JSON.parse(body))
    const consent = hint.success && hint.data.consentId ? consents.byId(hint.data.consentId) : undefined
    // The notification is only a hint, so the state of the consent is read from the aggregator.
    if (consent) {
      Object.assign(consent.record, { nextAt: 0, confirmedAt: null })
      consents.save(consent)
      await data.tick(() => parts.work('/notify'))
    }
    return jsonAnswer(200, {})
  }

  async function route(request: AdminRequest): Promise<Answer | undefined> {
    const { method, path, isAdmin, readBody } = request
    const secret = /^\/notify\/([0-9a-f]+)$/.exec(path)?.[1]
    if (secret !== undefined) {
      return method === 'POST' && isEqual(secret, parts.notifySecret) ? await notified(await readBody()) : undefined
    }
    if (!isAdmin) return jsonAnswer(401, { code: 'NOT_ENTITLED' })
    if (path === '/consents' && method === 'POST') return await create(request)
    if (path === '/consents/join' && method === 'POST') return await join(request)
    const [, handle = '', action] = /^\/consents\/(gwc_[A-Z2-7]{26})(\/forget)?$/.exec(path) ?? []
    const named = consents.named(handle)
    if (named.length === 0) return undefined
    if (method === 'POST' && action) {
      for (const consent of named) erase(consent, {})
      return jsonAnswer(200, { status: statusOf(named) })
    }
    if (action) return undefined
    if (method === 'DELETE') return await revoke(named)
    return method === 'GET' ? jsonAnswer(200, { status: statusOf(named) }) : undefined
  }

  return {
    async handle(request) {
      try {
        return await route(request)
      } catch (error) {
        if (error instanceof Refusal) return refusalAnswer(error)
        if (error instanceof SyntaxError) return wrong('body', 'must be JSON')
        if (!(error instanceof z.ZodError)) throw error
        const [issue] = error.issues
        return wrong(issue?.path.join('.') || 'body', issue?.message ?? 'is not valid')
      }
    },
    states() {
      const counts: Record<string, number> = {}
      for (const consent of consents.all()) counts[stateOf(consent)] = (counts[stateOf(consent)] ?? 0) + 1
      return counts
    },
  }
}

function wrong(field: string, problem: string): Answer {
  return jsonAnswer(400, { problem: `${field} ${problem}` })
}

/** Returns the state of the consent that is furthest behind. */
function statusOf(named: readonly NamedConsent[]): string {
  const order = ['REVOKED', 'EXPIRED', 'REJECTED', 'FAILED', 'PENDING', 'FETCHING', 'READY']
  const states = named.map(stateOf)
  return order.find((state) => states.includes(state)) ?? 'PENDING'
}

function stateOf({ record }: NamedConsent): string {
  if (record.status === 'PAUSED') return 'REVOKED'
  if (record.status !== 'ACTIVE') return record.status
  if (record.isDataEnded) return 'EXPIRED'
  if (record.failure && record.failure.until === null) return 'FAILED'
  return record.held ? 'READY' : 'FETCHING'
}

function isEqual(given: string, secret: string): boolean {
  return given.length === secret.length && timingSafeEqual(Buffer.from(given), Buffer.from(secret))
}
