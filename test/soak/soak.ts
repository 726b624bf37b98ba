import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { openDatabase } from '#shared/platform/database/db.ts'
import { query } from '#shared/platform/database/sql.ts'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import { logFindings } from '../../ingress/admin/database-findings.ts'
import { auditPings, backlogEmpty, compareEntries, LONG_LOG } from '../faults/ledger.ts'
import { adminOf } from '../support/admin.ts'
import { eventually } from '../support/eventually.ts'
import { openProduct, type Product } from '../support/product.ts'
import { addCheck, addProject } from '../support/projects.ts'
import { openReceivers, openUndertaker, type Receivers, type Undertaker } from './deaths.ts'
import { type Consumer, type EvidenceReport, openConsumer } from './evidence.ts'
import { persistently } from './persistently.ts'
import { allReady, type Kept, startProcesses } from './processes.ts'
import type { SoakServers } from './servers.ts'
import type { Fault, FaultStage } from './stage.ts'
import { startTraffic, type Traffic } from './traffic.ts'

/** Checks that ping all the time, and may never be taken for late. */
const LIVING = 30
/** So late that a gap of ten seconds is harmless, and so soon that one of a minute is not. */
const LIVING_PERIOD = { timeoutSeconds: 15, graceSeconds: 5 }
/** Longest time after a fault until everything works. */
const RECOVERY_MS = 120_000

interface SoakSize {
  /** Opens the servers, which the soak closes. */
  openServers(): Promise<SoakServers>
  /** processes of each kind */
  copies: number
  /** checks that fall silent, and that fail, beside each fault */
  deaths: { silent: number; failing: number }
}

export interface SoakOptions extends SoakSize {
  /** the faults, one after the other */
  faults: Iterable<Fault>
  /** a number from 0 to 1 */
  random(): number
  /** called before each fault; false ends the soak */
  more(): boolean
  /** milliseconds from one fault to the next, or more when the one is not over by then */
  intervalMs: number
  /** of the seconds that faults stay; 1 unless the run is to be short */
  extensionFactor?: number
  /** called with each row when it is made */
  report(row: SoakRow): void
}

/** The cost of one fault. */
export interface SoakRow {
  fault: string
  /** from its beginning until everything worked again */
  seconds: number
  /** longest time in which no listener took a ping, and in which one of them did not, milliseconds */
  gapMs: number
  worstGapMs: number
  sent: number
  /** answered otherwise than with 200, or not at all */
  refused: number
  lost: number
  doubled: number
  falseDowns: number
  /** changes and messages that were to be seen, and lines about those that were not, or too often */
  flips: number
  messages: number
  repeated: number
  found: string[]
}

export interface SoakReport {
  rows: SoakRow[]
  evidence: EvidenceReport
  pings: number
  /** all discrepancies; empty if there is none */
  found: string[]
}

interface Ground {
  product: Product
  db: Knex
  servers: SoakServers
  processes: readonly Kept[]
  receivers: Receivers
  traffic: Traffic
  undertaker: Undertaker
  consumer: Consumer
  living: readonly number[]
}

/** Starts servers and processes, disturbs them while pings, deaths and packs go on, and balances the books. */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  await using resources = new AsyncDisposableStack()
  const ground = await openGround(options, resources)
  const rows: SoakRow[] = []
  for (const fault of options.faults) {
    if (!options.more()) break
    const isDue = sleep(options.intervalMs)
    const row = await suffer(ground, fault, options)
    rows.push(row)
    options.report(row)
    await isDue
  }
  const { traffic, consumer, product, db } = ground
  await traffic[Symbol.asyncDispose]()
  const evidence = await consumer.end()
  const found = [
    ...rows.flatMap(({ fault, found }) => found.map((line) => `${fault}: ${line}`)),
    ...(await auditPings({ config: product.config, db }, traffic.total)),
    ...evidence.found,
    ...(await logFindings(db)).filter(({ ok }) => !ok).map(({ what, text }) => `${what}: ${text}`),
    ...(await leftOver(db)),
  ]
  return { rows, evidence, pings: traffic.total.entries.size, found }
}

async function openGround(options: SoakSize, resources: AsyncDisposableStack): Promise<Ground> {
  const servers = resources.use(await options.openServers())
  const receivers = resources.use(await openReceivers())
  const product = resources.use(
    await openProduct({
      env: {
        ...servers.env,
        SMTP_URL: receivers.mailUrl,
        ...LONG_LOG,
        // Both listeners are one service, behind one address.
        PUBLIC_URL: 'https://signalbox.example',
        PING_SHARDS: '2',
        PUBLISH_TIMEOUT_MS: '5000',
        SWEEP_SETTLE_SECONDS: '5',
      },
    }),
  )
  const db = openDatabase({ url: servers.env.DATABASE_URL, name: 'soak', poolSize: 4, timeoutMs: 20_000 })
  resources.defer(() => db.destroy())
  const secrets = createSecrets(product.config.secretKey)
  const { project } = await addProject({ db, secrets }, { checkLimit: 1_000_000 })
  const processes = await startProcesses(product, resources, options.copies)
  const living = await Promise.all(
    Array.from({ length: LIVING }, () => addCheck({ db, secrets }, project.id, LIVING_PERIOD)),
  )
  const bases = processes.filter(({ kind }) => kind === 'listener').map(({ base }) => base)
  const traffic = resources.use(
    startTraffic(
      bases,
      living.map(({ uuid }) => uuid),
    ),
  )
  return {
    product,
    db,
    servers,
    processes,
    receivers,
    traffic,
    undertaker: await openUndertaker({ db, secrets, projectId: project.id, traffic, receivers }),
    consumer: resources.use(await openConsumer(product, db, bases)),
    living: living.map(({ id }) => id),
  }
}

/** Runs one fault under load until everything works again. */
async function suffer(ground: Ground, fault: Fault, options: SoakOptions): Promise<SoakRow> {
  const { traffic, undertaker, product, db, processes } = ground
  const found: string[] = []
  const { silent, failing } = options.deaths
  await undertaker.begin(silent, failing)
  const downsBefore = await downsOf(ground)
  traffic.take()
  const began = performance.now()
  const stage: FaultStage = {
    ...ground,
    random: options.random,
    admin: async (...args) => {
      const { status, stdout, stderr } = await adminOf({ ...product, db })(...args)
      if (status !== 0) throw new Error(`admin ${args.join(' ')}: ${stderr || stdout}`)
    },
    hold: (seconds) => sleep(seconds * 1000 * (options.extensionFactor ?? 1)),
  }
  const settle = (what: string, run: () => Promise<unknown>) =>
    run().catch((error: unknown) => void found.push(`${what}: ${String(error)}`))
  await Promise.all([settle('the fault could not be made', () => fault.run(stage)), undertaker.fail()])
  await settle('not all processes work again', () => allReady(processes, RECOVERY_MS))
  await settle('not every listener takes pings again', () => allAccept(ground))
  const seconds = (performance.now() - began) / 1000
  const window = traffic.take()
  await settle('the backlog', () => backlogEmpty({ config: product.config, db }))
  const deaths = await undertaker.end()
  const {
    found: misplaced,
    lost,
    doubled,
  } = await persistently('stored pings', () => compareEntries(db, window.ledger))
  const falseDowns = (await downsOf(ground)) - downsBefore
  const { repair } = fault
  if (repair) {
    await settle('the repair', () => repair(stage))
    await settle('not all processes work after the repair', () => allReady(processes, RECOVERY_MS))
    await settle('not every listener takes pings after the repair', () => allAccept(ground))
  }
  if (falseDowns > 0) found.push(`${falseDowns} checks that pinged all the time were taken for late`)
  return {
    fault: fault.name,
    seconds,
    gapMs: window.gapMs,
    worstGapMs: Math.max(...window.gapsMs),
    sent: window.ledger.entries.size,
    refused: window.ledger.entries.size - window.ledger.count('accepted'),
    lost,
    doubled,
    falseDowns,
    flips: deaths.expectedFlips,
    messages: deaths.expectedMessages,
    repeated: deaths.repeated,
    found: [...found, ...misplaced, ...deaths.found],
  }
}

async function downsOf({ db, living }: Ground): Promise<number> {
  const downs = await persistently('changes of the living', async () =>
    db('flips').whereIn('check_id', living).where({ to_status: 'down' }).select('id'),
  )
  return downs.length
}

async function allAccept({ traffic, processes }: Ground): Promise<void> {
  const listeners = processes.filter(({ kind }) => kind === 'listener')
  const before = listeners.map((_, listener) => traffic.accepted(listener))
  await eventually(
    'pings to be taken by all',
    () => listeners.every((_, listener) => traffic.accepted(listener) > (before[listener] ?? 0) + 20),
    RECOVERY_MS,
  )
}

/** Abandoned or unprocessed work. */
async function leftOver(db: Knex): Promise<string[]> {
  const [row] = await query<{ outbox: number; waiting: number }>(
    db,
    `SELECT (SELECT count(*)::int FROM outbox) AS outbox,
       (SELECT count(*)::int FROM log_entries WHERE seq IS NULL) AS waiting`,
  )
  return [
    ...(row && row.outbox > 0 ? [`${row.outbox} messages were never sent`] : []),
    ...(row && row.waiting > 0 ? [`${row.waiting} entries have no place in the log`] : []),
  ]
}
