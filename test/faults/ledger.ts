import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { queuesOf } from '#shared/contracts/ping-generations.ts'
import { createBarriers } from '#shared/platform/broker/barrier.ts'
import { openBroker } from '#shared/platform/broker/broker.ts'
import { liveGenerations } from '#shared/platform/database/ping-shards.ts'
import { query } from '#shared/platform/database/sql.ts'
import type { Config } from '#shared/platform/process/config.ts'
import { createLog } from '#shared/platform/process/log.ts'
import { createMetrics } from '#shared/platform/process/metrics.ts'
import { eventually } from '../support/eventually.ts'

/**
 * The sender's knowledge of a ping. A 2xx is accepted. A 4xx was refused before anything was published. In all other
 * cases (503, timeout, reset), the broker may or may not have the ping.
 */
export type Fate = 'accepted' | 'refused' | 'unknown'

interface Entry {
  check: string
  fate: Fate
}

/** Records each ping that a load has sent, by its unique run id. */
export class Ledger {
  readonly #entries = new Map<string, Entry>()
  readonly #counts: Record<Fate, number> = { accepted: 0, refused: 0, unknown: 0 }
  /** number of answers by HTTP status or error code */
  readonly answers = new Map<string, number>()

  /** by run id */
  get entries(): ReadonlyMap<string, Entry> {
    return this.#entries
  }

  record(rid: string, check: string, answer: number | string): void {
    const key = String(answer)
    this.answers.set(key, (this.answers.get(key) ?? 0) + 1)
    this.#add(rid, { check, fate: fateOf(answer) })
  }

  /** Adds the entries of another ledger. */
  include(other: Ledger): void {
    for (const [rid, entry] of other.entries) this.#add(rid, entry)
    for (const [answer, count] of other.answers) this.answers.set(answer, (this.answers.get(answer) ?? 0) + count)
  }

  count(fate: Fate): number {
    return this.#counts[fate]
  }

  #add(rid: string, entry: Entry): void {
    this.#entries.set(rid, entry)
    this.#counts[entry.fate] += 1
  }
}

function fateOf(answer: number | string): Fate {
  if (typeof answer === 'string' || answer >= 500) return 'unknown'
  return answer >= 200 && answer < 300 ? 'accepted' : 'refused'
}

export interface PingLoad {
  /** called for each ping, so that a load can move from one ingress to another */
  base: () => string | Promise<string>
  /** uuids */
  checks: readonly string[]
  connections: number
  ledger: Ledger
  /** called before each ping; false ends the load */
  more: () => boolean
  /** in milliseconds; afterwards the result of a ping is unknown */
  timeoutMs?: number
  /** milliseconds from an answer to the next ping of its connection; none by default */
  restMs?: number
}

/** Pings checks over kept-alive connections, one ping at a time on each. Resolves when all are answered. */
export async function sendPings(load: PingLoad): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: load.connections })
  let sent = 0
  const sendInSequence = async () => {
    while (load.more()) {
      const check = load.checks[sent++ % load.checks.length] ?? ''
      const rid = randomUUID()
      const answer = await pingOnce(agent, `${await load.base()}/ping/${check}?rid=${rid}`, load.timeoutMs ?? 20_000)
      load.ledger.record(rid, check, answer)
      // After a refusal, a client waits before its next ping.
      if (answer !== 200) await sleep(25)
      else if (load.restMs) await sleep(load.restMs)
    }
  }
  await Promise.all(Array.from({ length: load.connections }, sendInSequence))
  agent.destroy()
}

/** @returns the HTTP status, or the code of the error without a response */
export function pingOnce(agent: Agent, url: string, timeoutMs: number): Promise<number | string> {
  return new Promise((resolve) => {
    const outgoing = request(url, { agent, timeout: timeoutMs }, (response) => {
      response.on('end', () => resolve(response.statusCode ?? 0))
      response.on('error', () => resolve('CUT'))
      response.resume()
    })
    outgoing.on('timeout', () => outgoing.destroy(Object.assign(new Error('timeout'), { code: 'TIMEOUT' })))
    outgoing.on('error', (error) => resolve('code' in error ? String(error.code) : error.name))
    outgoing.end()
  })
}

/** Waits at most a minute until every shard has applied all pings that were accepted before (invariant I10). */
export async function backlogEmpty({ config, db }: { config: Config; db: Knex }): Promise<void> {
  const metrics = createMetrics()
  await using broker = openBroker({
    url: config.amqpUrl,
    name: 'ledger',
    queues: () => [],
    publishTimeoutMs: config.publishTimeoutMs,
    log: createLog('silent', 'ledger'),
    metrics,
  })
  await broker.connected()
  const live = await liveGenerations(db)
  const barriers = createBarriers(broker, { generations: () => live, metrics })
  const behind = new Set(live.flatMap(queuesOf))
  await eventually(
    'the backlog to empty',
    async () => {
      for (const queue of await barriers.answering([...behind], 2_000)) behind.delete(queue)
      return behind.size === 0
    },
    60_000,
  )
}

/**
 * Compares the answers that senders received with the stored pings, once the backlog is empty: every accepted ping
 * exactly once, no refused one, an unknown one at most once, and the numbers of each check without gap or repeat.
 * @returns one line per discrepancy; empty if there is none
 */
export async function auditPings(product: { config: Config; db: Knex }, ledger: Ledger): Promise<string[]> {
  await backlogEmpty(product)
  const { found, strangers } = await compareEntries(product.db, ledger)
  for (const rid of strangers) found.push(`ping ${rid} is stored and was never sent`)
  const checks = await query<{ uuid: string; counted: number; stored: number; last: number | null }>(
    product.db,
    `SELECT c.uuid, c.n_pings::int AS counted, count(p.n)::int AS stored, max(p.n)::int AS last
     FROM checks c LEFT JOIN pings p ON p.check_id = c.id GROUP BY c.id`,
  )
  for (const { uuid, counted, stored, last } of checks) {
    if (counted !== stored || stored !== (last ?? 0)) {
      found.push(`check ${uuid} counted ${counted} pings, stored ${stored}, the last with number ${last}`)
    }
  }
  return found
}

/** Counts how often each sent ping is stored; also for a part of the sent pings. */
export interface Comparison {
  /** one line per discrepancy */
  found: string[]
  /** accepted and not stored */
  lost: number
  /** stored more than once */
  doubled: number
  /** run ids that are stored and not in the ledger */
  strangers: string[]
}

/** Compares the answers that senders received with the pings stored so far. */
export async function compareEntries(db: Knex, ledger: Ledger): Promise<Comparison> {
  const rows = await query<{ rid: string; times: number }>(
    db,
    'SELECT rid, count(*)::int AS times FROM pings WHERE rid IS NOT NULL GROUP BY rid',
  )
  const times = new Map(rows.map((row) => [row.rid, row.times]))
  const found: string[] = []
  let lost = 0
  let doubled = 0
  for (const [rid, { fate }] of ledger.entries) {
    const count = times.get(rid) ?? 0
    times.delete(rid)
    const isRight = fate === 'accepted' ? count === 1 : fate === 'refused' ? count === 0 : count <= 1
    if (isRight) continue
    if (count === 0) lost += 1
    if (count > 1) doubled += 1
    found.push(`${fate} ping ${rid} is stored ${count} times`)
  }
  return { found, lost, doubled, strangers: [...times.keys()] }
}

/**
 * For loads that last as long as a fault: some pings are in flight at each moment, and the processors stay free for the
 * recovery.
 */
export const STEADILY = { restMs: 25 }

/** For loads of no fixed length: every ping stays in its check's log, where the audit looks for it. */
export const LONG_LOG = { PING_LOG_LIMIT: '100000' }
