import type { SetuClient } from './adapters/setu.ts'
import { type Held, isWaiting, readDelivery } from './adapters/setu-read.ts'
import type { Work } from './calls.ts'
import type { ConsentRecord, Consents, NamedConsent } from './consents.ts'
import {
  consentExpired,
  consentRevoked,
  incomplete,
  limited,
  noConsent,
  Refusal,
  timedOut,
  unparseable,
  upstreamFailed,
} from './rules.ts'

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** Time for which an ACTIVE status is used before it is read again, and while the aggregator does not respond. */
const STATUS_VALID_MS = 5 * MINUTE_MS
const STATUS_VALID_IN_OUTAGE_MS = 60 * MINUTE_MS
const POLL_MS = 5 * SECOND_MS
const MAX_SESSIONS = 2

export interface ConsentData {
  /** Requires that the consent is active, and reads its status again if that is too old. @throws Refusal */
  confirm(consent: NamedConsent, work: Work): Promise<void>
  /** Returns the data of a confirmed consent. If none is stored, fetches it. @throws Refusal, also at the deadline */
  dataOf(consent: NamedConsent, work: Work): Promise<Held>
  /** Deletes data whose life or consent has ended, and polls the aggregator for consents whose next poll is due. */
  tick(work: () => Work): Promise<void>
}

interface PollerOptions {
  hashKey: Buffer
  dataLifeDays: number
  /** called when the data of a consent was deleted */
  ended: () => void
}

/** Polls the status of consents, fetches their data once, and deletes the data when it or the consent expires. */
export class ConsentPoller implements ConsentData {
  readonly #client: SetuClient
  readonly #consents: Consents
  readonly #options: PollerOptions
  readonly #fetching = new Map<string, Promise<Held>>()
  readonly #confirming = new Map<string, Promise<void>>()

  constructor(client: SetuClient, consents: Consents, options: PollerOptions) {
    this.#client = client
    this.#consents = consents
    this.#options = options
  }

  #save(consent: NamedConsent, change: Partial<ConsentRecord>): void {
    Object.assign(consent.record, change)
    this.#consents.save(consent)
  }

  #deleteData(consent: NamedConsent): void {
    this.#save(consent, { held: null, session: null, isDataEnded: consent.record.held !== null })
    this.#options.ended()
  }

  /**
   * Deletes data whose life has ended.
   * @throws Refusal if the data or the consent has ended, or if the consent was not given
   */
  #requireNotEnded(consent: NamedConsent, nowMs: number): void {
    const { record } = consent
    if (record.held && record.held.until <= nowMs) this.#deleteData(consent)
    if (record.expiresAt !== null && Date.parse(record.expiresAt) <= nowMs) {
      if (record.held) this.#deleteData(consent)
      throw consentExpired()
    }
    if (record.isDataEnded && record.status === 'ACTIVE') throw consentExpired()
    if (record.status === 'EXPIRED') throw consentExpired()
    if (record.status === 'REVOKED') throw consentRevoked()
    if (record.status === 'REJECTED' || record.status === 'FAILED') throw noConsent()
  }

  #refreshStatus(consent: NamedConsent, work: Work): Promise<void> {
    const running = this.#confirming.get(consent.name)
    if (running !== undefined) return running
    const started = this.#refreshStatusOnce(consent, work).finally(() => this.#confirming.delete(consent.name))
    this.#confirming.set(consent.name, started)
    return started
  }

  async #refreshStatusOnce(consent: NamedConsent, work: Work): Promise<void> {
    const { evidence, ...state } = await this.#client.read(consent.record.consentId, work)
    this.#save(consent, { ...state, confirmedAt: work.deps.now(), confirmation: evidence })
    const mayKeepData = state.status === 'ACTIVE' || state.status === 'PENDING'
    if (!mayKeepData && consent.record.held) this.#deleteData(consent)
  }

  async confirm(consent: NamedConsent, work: Work): Promise<void> {
    const { record } = consent
    const now = work.deps.now()
    this.#requireNotEnded(consent, now)
    const age = record.status === 'ACTIVE' && record.confirmedAt !== null ? now - record.confirmedAt : Infinity
    if (age > STATUS_VALID_MS) {
      try {
        await this.#refreshStatus(consent, work)
      } catch (error) {
        if (!(error instanceof Refusal) || !isUnavailable(error)) throw error
        if (age > STATUS_VALID_IN_OUTAGE_MS) throw upstreamFailed()
      }
    }
    if (record.confirmation && !work.upstream.includes(record.confirmation)) work.upstream.push(record.confirmation)
    this.#requireNotEnded(consent, now)
    if (record.status === 'PAUSED') throw consentRevoked()
    if (record.status !== 'ACTIVE') throw noConsent()
  }

  async #fetchOnce(consent: NamedConsent, work: Work): Promise<Held> {
    const { record } = consent
    const { dataRange } = record
    if (!dataRange) throw unparseable()
    for (;;) {
      if (!record.session) {
        if (record.sessions >= MAX_SESSIONS) return this.#fail(consent)
        const id = await this.#client.startSession(record.consentId, dataRange, work)
        this.#save(consent, { session: { id, startedAt: work.deps.now() }, sessions: record.sessions + 1 })
      }
      const { id, startedAt } = record.session ?? { id: '', startedAt: 0 }
      const session = await this.#client.session(id, work)
      const isOld = work.deps.now() - startedAt > HOUR_MS
      if (session.status === 'FAILED' || session.status === 'EXPIRED') {
        this.#save(consent, { session: null })
        continue
      }
      const isDone = session.status === 'COMPLETED' || (session.status === 'PARTIAL' && !isWaiting(session.body))
      if (isDone || (isOld && session.status === 'PARTIAL')) {
        return this.#keep(consent, session.body, work)
      }
      if (isOld) return this.#fail(consent)
      if (work.deps.now() + POLL_MS >= work.deadline) throw timedOut()
      await work.deps.sleep(POLL_MS)
    }
  }

  #keep(consent: NamedConsent, body: unknown, work: Work): Held {
    const { record } = consent
    const now = work.deps.now()
    const range = record.dataRange ?? { from: '', to: '' }
    const expiry = record.expiresAt === null ? Infinity : Date.parse(record.expiresAt)
    // The confirmation is stored with the consent.
    const upstream = work.upstream.filter((entry) => entry !== record.confirmation)
    const held: Held = {
      fetchedAt: now,
      until: Math.min(now + this.#options.dataLifeDays * DAY_MS, expiry),
      upstream,
      ...readDelivery(body, range, this.#options.hashKey),
    }
    this.#save(consent, { held, failure: null, session: null })
    return held
  }

  /** Stores that all sessions failed, so that no further session is started. */
  #fail(consent: NamedConsent): never {
    this.#save(consent, { failure: { status: 422, code: 'UPSTREAM_ERROR', until: null } })
    throw incomplete()
  }

  async dataOf(consent: NamedConsent, work: Work): Promise<Held> {
    const { record, name } = consent
    if (record.held) return withUpstream(record.held, work)
    const { failure } = record
    const now = work.deps.now()
    if (failure && (failure.until === null || failure.until > now)) {
      throw failure.until === null
        ? new Refusal(failure.status, failure.code)
        : limited((failure.until - now) / SECOND_MS)
    }
    const running = this.#fetching.get(name)
    if (running !== undefined) return withUpstream(await withinDeadline(running, work), work)
    const started = this.#fetchOnce(consent, work).catch((error: unknown) => {
      if (error instanceof Refusal && error.status === 429) {
        const until = work.deps.now() + (error.retryAfter ?? 60) * SECOND_MS
        this.#save(consent, { failure: { status: 429, code: 'UPSTREAM_ERROR', until } })
      }
      throw error
    })
    this.#fetching.set(name, started)
    return await started.finally(() => this.#fetching.delete(name))
  }

  async #poll(consent: NamedConsent, work: Work): Promise<void> {
    const { record } = consent
    const now = work.deps.now()
    try {
      await this.confirm(consent, work)
      if (!record.held) await this.dataOf(consent, work)
      this.#save(consent, { nextAt: now + HOUR_MS })
    } catch (error) {
      this.#save(consent, { nextAt: now + nextDelay(record, now) })
      if (!(error instanceof Refusal)) throw error
    }
  }

  async tick(work: () => Work): Promise<void> {
    const now = work().deps.now()
    // Expired data is deleted first, because a poll waits for the aggregator.
    const polled = this.#consents.all().filter((consent) => this.#hasNotEnded(consent, now))
    const failures: unknown[] = []
    for (const consent of polled.filter(({ record }) => record.nextAt <= now)) {
      await this.#poll(consent, work()).catch((error: unknown) => failures.push(error))
    }
    // A fault with one consent must not stop the others.
    if (failures.length > 0) throw failures[0]
  }

  #hasNotEnded(consent: NamedConsent, nowMs: number): boolean {
    try {
      this.#requireNotEnded(consent, nowMs)
      return true
    } catch (error) {
      if (error instanceof Refusal) return false
      throw error
    }
  }
}

function isUnavailable({ status }: Refusal): boolean {
  return status === 408 || status === 429 || status >= 500
}

/**
 * Returns the time to the next poll. During a data session: 5 s for two minutes, then a minute. Before the taxpayer's
 * decision: 30 s for 15 minutes. Otherwise an hour.
 */
function nextDelay({ status, createdAt, session }: ConsentRecord, now: number): number {
  if (session) return now - session.startedAt < 2 * MINUTE_MS ? POLL_MS : MINUTE_MS
  if (status === 'PENDING' && now - createdAt < 15 * MINUTE_MS) return 30 * SECOND_MS
  return HOUR_MS
}

/** Adds the provider responses from which the data was read to those of this request, without duplicates. */
function withUpstream(held: Held, work: Work): Held {
  const known = new Set(work.upstream.map(({ sha256 }) => sha256))
  work.upstream.push(...held.upstream.filter(({ sha256 }) => !known.has(sha256)))
  return held
}

async function withinDeadline(held: Promise<Held>, work: Work): Promise<Held> {
  const deadline = work.deps.sleep(Math.max(0, work.deadline - work.deps.now())).then(() => {
    throw timedOut()
  })
  return await Promise.race([held, deadline])
}
