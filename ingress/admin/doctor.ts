import { lookup } from 'node:dns/promises'
import { connect as connectTcp } from 'node:net'
import type { Knex } from 'knex'
import { workQueues } from '#shared/contracts/topology.ts'
import { openGaps } from '#shared/monitoring/availability/gap-list-store.ts'
import { readWatchdog } from '#shared/monitoring/availability/watchdog-store.ts'
import { type DeadLetterQueues, openDeadLetterQueues } from '#shared/platform/broker/dead-letter-queue.ts'
import { schemaProblem } from '#shared/platform/database/migrate.ts'
import { pingQueuesInUse } from '#shared/platform/database/ping-queues.ts'
import { isChangeLate, liveGenerations } from '#shared/platform/database/ping-shards.ts'
import { readInstallation } from '#shared/platform/database/restore-mark-store.ts'
import { PIPELINE_ROLE } from '#shared/platform/database/row-security.ts'
import { describeServer, readArchiving, readReplication, readServerClock } from '#shared/platform/database/server.ts'
import { restoreMarkFile } from '#shared/platform/process/restore-mark-file.ts'
import { nowMicros, toIsoSeconds, toSeconds } from '#shared/time.ts'
import { archivingFinding, clusterFindings, replicationFinding } from './cluster-findings.ts'
import { type AdminContext, type Command, type Finding, findingLines, UsageError } from './command.ts'
import { drill } from './drill.ts'
import { publicUrlFinding } from './public-url-finding.ts'
import { registriesFinding } from './registries-finding.ts'
import { logRefusals } from './transparency-log.ts'

/** Oldest tested version. */
const POSTGRES_VERSION = 150_000

export const doctorCommand: Command = {
  noun: 'doctor',
  summary: 'Check settings, database, broker and mail server, and report problems',
  help: [
    'ok: works. warn: works, with a risk to know. WRONG: does not work; then the exit status is 1.',
    'With --drill a temporary check passes through the running product (pinged, read, overdue, notified) with the',
    'time of each step, and every transparency log is rebuilt: to be run after an update, a fail-over, a restore.',
  ],
  examples: ['doctor', 'doctor --drill'],
  options: {
    drill: { description: 'send a temporary check through the running product' },
    url: { description: 'the listener for the drill (default: PUBLIC_URL)', value: 'URL' },
  },
  async run(options, context) {
    if (options.url !== undefined && !options.drill) throw new UsageError('--url goes with --drill')
    const base = typeof options.url === 'string' ? options.url.replace(/\/+$/, '') : context.config.publicUrl
    const findings = [
      ...(await settings(context)),
      ...(await database(context)),
      ...(await broker(context)),
      ...(await clusterFindings(context)),
      ...(await mailServer(context)),
      ...(options.drill ? await drilled(base, context) : []),
    ]
    const failed = findings.some(({ ok }) => !ok)
    return { json: { healthy: !failed, findings }, text: findingLines(findings).join('\n'), failed }
  },
}

/** Finds settings that are valid but probably a mistake. All settings were parsed before. */
async function settings({ config }: AdminContext): Promise<Finding[]> {
  return [
    {
      what: 'settings',
      ok: true,
      isRisk: config.warnings.length > 0,
      text: ['all can be read', ...config.warnings].join('; '),
    },
    await publicUrlFinding(config),
    {
      what: 'SMTP_URL',
      ok: true,
      isRisk: config.smtpUrl === undefined,
      text: config.smtpUrl === undefined ? 'not set: no mail is sent, and e-mail integrations are not offered' : 'set',
    },
    ...(config.allowPrivateTargets === true
      ? [
          {
            what: 'ALLOW_PRIVATE_TARGETS',
            ok: true,
            isRisk: true,
            text: 'true: webhooks reach every address of this network',
          },
        ]
      : []),
  ]
}

async function database({ db, config }: AdminContext): Promise<Finding[]> {
  try {
    const { version, role } = await describeServer(db)
    // The server read its clock at some moment between our request and its answer.
    const requested = nowMicros()
    const clock = await readServerClock(db)
    const offset = toSeconds(Math.max(0, requested - clock, clock - nowMicros()))
    const problem = await schemaProblem(db)
    return [
      handling('database', version >= POSTGRES_VERSION, 'answers', 'is older than PostgreSQL 15: upgrade it'),
      {
        what: 'row security',
        ok: true,
        isRisk: role !== PIPELINE_ROLE,
        text:
          role === PIPELINE_ROLE
            ? 'binds the login'
            : 'off: the login owns the tables or sees every row; migrate with DATABASE_OWNER_URL (docs/operations.md)',
      },
      { what: 'schema', ok: problem === null, text: problem ?? 'is current' },
      replicationFinding(await readReplication(db), config.databaseSyncStandbys),
      archivingFinding(await readArchiving(db)),
      ...(problem === null
        ? [
            await pingShards(db),
            await listeners(db),
            await watchdog(db, config.watchdogUrl),
            await restoredCopy(db),
            await checkpointFolder({ db, config }),
            await transparencyLogs({ db, config }),
            await registriesFinding(db, config),
          ]
        : []),
      handling('clock', offset < 5, 'agrees with the database', `differs by ${offset.toFixed(1)} s: set up NTP`),
    ]
  } catch (error) {
    return [{ what: 'database', ok: false, text: `cannot be reached (${codeOf(error)}): check DATABASE_URL` }]
  }
}

async function drilled(base: string, context: AdminContext): Promise<Finding[]> {
  try {
    return await drill(base, context)
  } catch (error) {
    return [{ what: 'drill', ok: false, text: `cannot be begun or ended: ${codeOf(error)}` }]
  }
}

/** Without the restore marks in this folder a restored database is not detected (docs/adr/0016). */
async function checkpointFolder({ db, config }: Pick<AdminContext, 'config' | 'db'>): Promise<Finding> {
  const { path, read } = restoreMarkFile(config.checkpointDir, (await readInstallation(db)).id)
  const isKept = (await read()).length > 0
  const ill = `${path} does not exist. If a worker here sends notifications or signs the log, keep this folder on a persistent volume: without it, a restored database sends old alerts and signs an older log`
  return { what: 'CHECKPOINT_DIR', ok: true, isRisk: !isKept, text: isKept ? 'holds marks of this database' : ill }
}

/** While the operator has not confirmed a restored database, workers are idle, which other findings report as a fault. */
async function restoredCopy(db: Knex): Promise<Finding> {
  const { restoredFrom } = await readInstallation(db)
  const since = restoredFrom === null ? '' : toIsoSeconds(restoredFrom)
  const ill = `the database was restored, with data until ${since}, and nothing is sent: admin restore verify`
  return handling('restore', restoredFrom === null, 'nothing to confirm', ill)
}

async function transparencyLogs(context: Pick<AdminContext, 'config' | 'db'>): Promise<Finding> {
  const refusals = await logRefusals(context)
  return handling('transparency logs', refusals.length === 0, 'continue their signed checkpoints', refusals.join('; '))
}

/** Finds missing listeners. The checks that depend on one do not go down, so the operator must know. */
async function listeners(db: Knex): Promise<Finding> {
  const open = await openGaps(db)
  const ill = open.map(
    ({ listener, from, cause }) =>
      `${listener} has accepted no pings since ${toIsoSeconds(from)} (${cause}), and no check that depends on it goes down: ` +
      `start its listener, or give it up with admin gaps close --listener ${listener}`,
  )
  return handling('listeners', open.length === 0, 'take pings', ill.join('; '))
}

/** The external monitor has noticed by then: it is notified once a minute. */
const MISSED_SECONDS = 180

async function watchdog(db: Knex, url: string | undefined): Promise<Finding> {
  const what = 'WATCHDOG_URL'
  if (url === undefined)
    return { what, ok: true, isRisk: true, text: 'not set: no external monitor notices when this service stops' }
  const { now, fedAt, problem } = await readWatchdog(db)
  const isFed = fedAt !== null && toSeconds(now - fedAt) < MISSED_SECONDS
  const since = fedAt === null ? 'has never answered' : `has not answered since ${toIsoSeconds(fedAt)}`
  return handling(what, isFed, 'answers', `${since}: ${problem ?? 'start workers, the sweeper among them'}`)
}

async function broker({ config, db }: AdminContext): Promise<Finding[]> {
  try {
    await using deadLetters = await openDeadLetterQueues(config.amqpUrl)
    const queues = workQueues(await pingQueuesInUse(db, config.pingShards))
    const depths = await Promise.all(queues.map((name) => deadLetters.depth(name)))
    const missing = queues.filter((_, index) => depths[index] === null)
    const dead = depths.reduce((sum: number, depth) => sum + (depth ?? 0), 0)
    return [
      { what: 'broker', ok: true, text: 'answers' },
      handling(
        'queues',
        missing.length === 0,
        'are all there',
        `${missing.join(', ')} missing: start ingress or workers`,
      ),
      await consumers(deadLetters, { config, db }),
      handling('dead messages', dead === 0, 'none', `${dead} dead letters: admin dead-letters list`),
    ]
  } catch (error) {
    return [{ what: 'broker', ok: false, text: `cannot be reached (${codeOf(error)}): check AMQP_URL` }]
  }
}

async function pingShards(db: Knex): Promise<Finding> {
  const live = await liveGenerations(db)
  const shards = live.at(-1)?.shards
  const former = live.slice(0, -1)
  const stuck = former.find(({ isDrained }) => !isDrained)
  const text = [
    shards === undefined ? 'no process has taken part yet' : `${shards} in use`,
    ...former.map(({ shards, isDrained }) => `${shards} before, ${isDrained ? 'kept for a day' : 'read to their end'}`),
  ].join('; ')
  const isLate = stuck !== undefined && (await isChangeLate(db))
  return handling('ping queues', !isLate, text, `${text}: the change does not end, is a ping evaluator running?`)
}

async function consumers(
  deadLetters: DeadLetterQueues,
  { config, db }: Pick<AdminContext, 'config' | 'db'>,
): Promise<Finding> {
  const lonely = []
  for (const queue of workQueues(await pingQueuesInUse(db, config.pingShards))) {
    const state = await deadLetters.inspect(queue)
    if (state?.consumers === 0) lonely.push(queue)
  }
  const ill = `no consumer takes from ${lonely.join(', ')}: start workers, and see admin shards show`
  return handling('consumers', lonely.length === 0, 'every queue has one', ill)
}

async function mailServer({ config }: AdminContext): Promise<Finding[]> {
  if (config.smtpUrl === undefined) return []
  const { hostname, port, protocol } = new URL(config.smtpUrl)
  try {
    const { address } = await lookup(hostname)
    await reach(address, Number(port || (protocol === 'smtps:' ? 465 : 587)))
    return [{ what: 'mail server', ok: true, text: 'accepts connections' }]
  } catch (error) {
    return [{ what: 'mail server', ok: false, text: `cannot be reached (${codeOf(error)}): check SMTP_URL` }]
  }
}

async function reach(host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const socket = connectTcp({ host, port, timeout: 5_000 })
    socket.once('connect', () => resolve())
    socket.once('error', reject)
    socket.once('timeout', () => reject(new Error('no answer')))
    socket.once('close', () => reject(new Error('closed')))
    socket.once('connect', () => socket.destroy())
  })
}

function handling(what: string, ok: boolean, well: string, ill: string): Finding {
  return { what, ok, text: ok ? well : ill }
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message
}
