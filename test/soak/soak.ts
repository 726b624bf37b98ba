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
import { type EvidenceClient, type EvidenceReport, openEvidenceClient } from './evidence.ts'
import { type OutageScenario, openOutageScenario, openReceivers, type Receivers } from './outages.ts'
import { allReady, type ManagedProcess, startProcesses } from './processes.ts'
import type { SoakServers } from './servers.ts'
import type { Fault, FaultStage } from './stage.ts'
import { startTraffic, type Traffic } from './traffic.ts'
import { withRetries } from './with-retries.ts'

/** Checks that ping all the time and must never go down. */
const LIVE_CHECKS = 30
/** A gap of ten seconds must not bring a check down, a gap of a minute must. */
const LIVE_PERIOD = { timeoutSeconds: 15, graceSeconds: 5 }
/** Maximum time after a fault until everything works. */
const RECOVERY_MS = 120_000

interface SoakSize {
  /** Opens the servers, which the soak closes. */
  openServers(): Promise<SoakServers>
  /** processes of each kind */
  copies: number
  /** number of checks that stop pinging, and that fail, during each fault */
  outages: { silent: number; failing: number }
}

export interface SoakOptions extends SoakSize {
  /** run one after the other */
  faults: Iterable<Fault>
  /** a number from 0 to 1 */
  random(): number
  /** called before each fault; false ends the soak */
  more(): boolean
  /** minimum time in ms from the start of a fault to the next one */
  intervalMs: number
  /** multiplies the duration of faults; 1 by default */
  durationFactor?: number
  /** called with the row of each fault */
  report(row: SoakRow): void
}

/** Effects of one fault. */
export interface SoakRow {
  fault: string
  /** from the start of the fault until everything worked again */
  seconds: number
  /** longest time without an accepted ping, in ms: of all listeners together, and of the worst one */
  gapMs: number
  worstGapMs: number
  sent: number
  /** pings without a 200 response */
  refused: number
  lost: number
  doubled: number
  falseDowns: number
  /** expected flips and messages; `found` has a line for each one that is missing or duplicate */
  flips: number
  messages: number
  repeated: number
  found: string[]
}

export interface SoakReport {
  rows: SoakRow[]
  evidence: EvidenceReport
  pings: number
  /** all discrepancies */
  found: string[]
}

interface SoakEnvironment {
  product: Product
  db: Knex
  servers: SoakServers
  processes: readonly ManagedProcess[]
  receivers: Receivers
  traffic: Traffic
  outageScenario: OutageScenario
  evidenceClient: EvidenceClient
  liveChecks: readonly number[]
}

/** Runs faults under load of pings, outages and packs, and reconciles the results. */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  await using resources = new AsyncDisposableStack()
  const environment = await openEnvironment(options, resources)
  const rows: SoakRow[] = []
  for (const fault of options.faults) {
    if (!options.more()) break
    const isDue = sleep(options.intervalMs)
    const row = await runFault(environment, fault, options)
    rows.push(row)
    options.report(row)
    await isDue
  }
  const { traffic, evidenceClient, product, db } = environment
  await traffic[Symbol.asyncDispose]()
  const evidence = await evidenceClient.end()
  const found = [
    ...rows.flatMap(({ fault, found }) => found.map((line) => `${fault}: ${line}`)),
    ...(await auditPings({ config: product.config, db }, traffic.total)),
    ...evidence.found,
    ...(await logFindings(db)).filter(({ ok }) => !ok).map(({ what, text }) => `${what}: ${text}`),
    ...(await unprocessedWork(db)),
  ]
  return { rows, evidence, pings: traffic.total.entries.size, found }
}

async function openEnvironment(options: SoakSize, resources: AsyncDisposableStack): Promise<SoakEnvironment> {
  const servers = resources.use(await options.openServers())
  const receivers = resources.use(await openReceivers())
  const product = resources.use(
    await openProduct({
      env: {
        ...servers.env,
        SMTP_URL: receivers.mailUrl,
        ...LONG_LOG,
        // Both listeners have the public URL of one service.
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
  const liveChecks = await Promise.all(
    Array.from({ length: LIVE_CHECKS }, () => addCheck({ db, secrets }, project.id, LIVE_PERIOD)),
  )
  const bases = processes.filter(({ kind }) => kind === 'listener').map(({ base }) => base)
  const traffic = resources.use(
    startTraffic(
      bases,
      liveChecks.map(({ uuid }) => uuid),
    ),
  )
  return {
    product,
    db,
    servers,
    processes,
    receivers,
    traffic,
    outageScenario: await openOutageScenario({ db, secrets, projectId: project.id, traffic, receivers }),
    evidenceClient: resources.use(await openEvidenceClient(product, db, bases)),
    liveChecks: liveChecks.map(({ id }) => id),
  }
}

/** Runs one fault under load until everything works again. */
async function runFault(environment: SoakEnvironment, fault: Fault, options: SoakOptions): Promise<SoakRow> {
  const { traffic, outageScenario, product, db, processes } = environment
  const found: string[] = []
  const { silent, failing } = options.outages
  await outageScenario.begin(silent, failing)
  const downsBefore = await countDowns(environment)
  traffic.take()
  const began = performance.now()
  const stage: FaultStage = {
    ...environment,
    random: options.random,
    admin: async (...args) => {
      const { status, stdout, stderr } = await adminOf({ ...product, db })(...args)
      if (status !== 0) throw new Error(`admin ${args.join(' ')}: ${stderr || stdout}`)
    },
    hold: (seconds) => sleep(seconds * 1000 * (options.durationFactor ?? 1)),
  }
  const settle = (what: string, run: () => Promise<unknown>) =>
    run().catch((error: unknown) => void found.push(`${what}: ${String(error)}`))
  await Promise.all([settle('the fault could not be started', () => fault.run(stage)), outageScenario.fail()])
  await settle('not all processes work again', () => allReady(processes, RECOVERY_MS))
  await settle('not every listener accepts pings again', () => untilAllAccept(environment))
  const seconds = (performance.now() - began) / 1000
  const window = traffic.take()
  await settle('the backlog', () => backlogEmpty({ config: product.config, db }))
  const outages = await outageScenario.end()
  const { found: misplaced, lost, doubled } = await withRetries('stored pings', () => compareEntries(db, window.ledger))
  const falseDowns = (await countDowns(environment)) - downsBefore
  const { repair } = fault
  if (repair) {
    await settle('the repair', () => repair(stage))
    await settle('not all processes work after the repair', () => allReady(processes, RECOVERY_MS))
    await settle('not every listener accepts pings after the repair', () => untilAllAccept(environment))
  }
  if (falseDowns > 0) found.push(`${falseDowns} checks that pinged all the time went down`)
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
    flips: outages.expectedFlips,
    messages: outages.expectedMessages,
    repeated: outages.repeated,
    found: [...found, ...misplaced, ...outages.found],
  }
}

async function countDowns({ db, liveChecks }: SoakEnvironment): Promise<number> {
  const downs = await withRetries('the flips of live checks', async () =>
    db('flips').whereIn('check_id', liveChecks).where({ to_status: 'down' }).select('id'),
  )
  return downs.length
}

async function untilAllAccept({ traffic, processes }: SoakEnvironment): Promise<void> {
  const listeners = processes.filter(({ kind }) => kind === 'listener')
  const before = listeners.map((_, listener) => traffic.accepted(listener))
  await eventually(
    'all listeners to accept pings',
    () => listeners.every((_, listener) => traffic.accepted(listener) > (before[listener] ?? 0) + 20),
    RECOVERY_MS,
  )
}

/** Returns a line for each kind of unprocessed work. */
async function unprocessedWork(db: Knex): Promise<string[]> {
  const [row] = await query<{ outbox: number; waiting: number }>(
    db,
    `SELECT (SELECT count(*)::int FROM outbox) AS outbox,
       (SELECT count(*)::int FROM log_entries WHERE seq IS NULL) AS waiting`,
  )
  return [
    ...(row && row.outbox > 0 ? [`${row.outbox} messages were never sent`] : []),
    ...(row && row.waiting > 0 ? [`${row.waiting} entries have no sequence number in the log`] : []),
  ]
}
