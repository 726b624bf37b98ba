import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrateLatest } from '#shared/platform/database/migrate.ts'
import { databaseUrl, withClient } from '../../stack/database-admin.ts'
import { postgresBinaries, startLocalPostgres, stopLocalPostgres } from '../../stack/local-postgres.ts'
import { rabbitBinaries, rabbitNode, startLocalRabbit } from '../../stack/local-rabbit.ts'
import { identify, sendSignal, stopProcess } from '../../stack/process-identity.ts'
import { mustRun, runCommand } from '../../stack/run-command.ts'
import { makePrivateFolder, serviceUser } from '../../stack/service-user.ts'
import { freePort } from './free-port.ts'

/** A PostgreSQL server of one test, which can be stopped, killed and restarted on the same port and data. */
export type OwnPostgres = AsyncDisposable & {
  /** of the database `postgres`, which is empty */
  url: string
  /** of a migrated database */
  signalbox: string
  port: number
  /** Stops the server cleanly; connections are closed. */
  stop(): Promise<void>
  /** Kills the server with SIGKILL, like a power cut. */
  kill(): Promise<void>
  start(): Promise<void>
  /** Freezes or continues all its processes, like a stalled disk or a paused machine. */
  freeze(isOn: boolean): Promise<void>
  /** Starts a hot streaming standby on a separate port, asynchronous unless the primary requires more. */
  standby(): Promise<OwnStandby>
  drop(): Promise<void>
}

export type OwnStandby = OwnPostgres & {
  /** Promotes the standby. When this resolves, it is a primary on the next timeline. */
  promote(): Promise<void>
}

/** A broker of one test. */
export type OwnRabbit = AsyncDisposable & {
  url: string
  port: number
  ctl(...args: string[]): Promise<string>
  /**
   * Evaluates an Erlang expression in the node, with 1/30 of the processor time of rabbitmqctl.
   * @param expression for example `node()`
   * @returns its value as Erlang prints it
   */
  evaluate(expression: string): Promise<string>
  /** Runs a shell command on the machine of the node. */
  shell(line: string): Promise<string>
  stop(): Promise<void>
  /**
   * A node stores the list of its quorum queues some seconds late. If it is killed before, it never elects a
   * leader for them again. Tests expect nodes that have run for a while, so this updates the list.
   */
  settle(): Promise<void>
  /** Updates that list and kills the node with SIGKILL. */
  kill(): Promise<void>
  /** Freezes its process, or lets it continue. */
  freeze(isOn: boolean): void
  start(): Promise<void>
  /** Stops or starts the application inside the node, which is much faster than the node itself. */
  stopApp(): Promise<void>
  startApp(): Promise<void>
  /** A fraction of memory; 0 raises the alarm at once, so publishers are blocked. */
  setMemoryWatermark(fraction: number): Promise<void>
  /** Free disk space below which publishers are blocked. */
  setDiskLimit(bytes: number): Promise<void>
  drop(): Promise<void>
}

/**
 * Initializes and migrates a data folder once per process. Servers start from copies of it, which costs a tenth.
 * @returns the folder
 */
const preparedData = once(async (): Promise<string> => {
  const bin = await postgresBinaries()
  if (!bin) throw new Error('fault tests need a PostgreSQL server installed (Debian: postgresql)')
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-prepared-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const { url } = await startLocalPostgres(bin, folder, await freePort(), { fsync: 'off' })
  await withClient(url, (client) => client.query('CREATE DATABASE signalbox'))
  await migrateLatest(databaseUrl(url, 'signalbox'))
  await stopLocalPostgres(bin, folder)
  return join(folder, 'data')
})

/** Runs a function at the first call, and returns its result to all callers. */
export function once<T>(run: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined
  return () => (result ??= run())
}

/**
 * Starts a PostgreSQL server for this test alone. It is as durable as a real one, so a kill loses nothing.
 * @param folder an existing empty folder, such as a small volume; default: a new one
 */
export async function startPostgres(
  options: Readonly<Record<string, string>> = {},
  folder = mkdtempSync(join(tmpdir(), 'signalbox-postgres-')),
): Promise<OwnPostgres> {
  const data = await preparedData()
  makePrivateFolder(folder, await serviceUser('postgres'))
  await mustRun(['cp', '-a', data, join(folder, 'data')])
  return await ownPostgres(folder, await freePort(), options)
}

async function ownPostgres(
  folder: string,
  port: number,
  options: Readonly<Record<string, string>>,
): Promise<OwnPostgres> {
  const bin = (await postgresBinaries()) ?? ''
  let server = await startLocalPostgres(bin, folder, port, options)
  const drop = async () => {
    await stopLocalPostgres(bin, folder, 'immediate')
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
  return {
    url: server.url,
    signalbox: databaseUrl(server.url, 'signalbox'),
    port,
    stop: () => stopLocalPostgres(bin, folder),
    kill: () => killPostgres(server.pid, folder),
    start: async () => {
      server = await startLocalPostgres(bin, folder, port, options)
    },
    freeze: async (isOn) => {
      for (const pid of await processesOf(server.pid)) sendSignal(pid, isOn ? 'SIGSTOP' : 'SIGCONT')
    },
    standby: () => startStandby(port),
    drop,
    [Symbol.asyncDispose]: drop,
  }
}

async function startStandby(primaryPort: number): Promise<OwnStandby> {
  const bin = (await postgresBinaries()) ?? ''
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-standby-'))
  const user = await serviceUser('postgres')
  makePrivateFolder(folder, user)
  const from = ['-h', '127.0.0.1', '-p', String(primaryPort), '-U', 'postgres']
  const copy = [...from, '-D', join(folder, 'data'), '--write-recovery-conf', '--checkpoint=fast', '--no-sync']
  await mustRun([join(bin, 'pg_basebackup'), ...copy], { ...user, cwd: folder })
  const server = await ownPostgres(folder, await freePort(), {})
  return {
    ...server,
    promote: async () => {
      await mustRun([join(bin, 'pg_ctl'), '-D', join(folder, 'data'), '-w', 'promote'], { ...user, cwd: folder })
    },
  }
}

/** Returns a server and its child processes, the server first, so that it starts no more while it is frozen. */
async function processesOf(pid: number): Promise<number[]> {
  const { stdout } = await runCommand(['pgrep', '-P', String(pid)])
  return [pid, ...stdout.split('\n').filter(Boolean).map(Number)]
}

/** A cluster of several nodes. */
export type OwnRabbitCluster = AsyncDisposable & {
  /** of all nodes, as AMQP_URL takes them */
  url: string
  nodes: readonly OwnRabbit[]
}

/**
 * Starts a cluster for this test alone.
 * @param settings lines of rabbitmq.conf
 */
export async function startRabbitCluster(size: number, settings: readonly string[] = []): Promise<OwnRabbitCluster> {
  const cookie = randomBytes(20).toString('hex')
  const resources = new AsyncDisposableStack()
  const nodes = await Promise.all(Array.from({ length: size }, () => startRabbit(settings, cookie)))
  for (const node of nodes) resources.use(node)
  const [first, ...others] = nodes
  for (const node of others) await joinRabbit(node, first?.port ?? 0)
  return {
    url: nodes.map(({ url }) => url).join(','),
    nodes,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

/** Adds an empty node to the cluster of another node with the same cookie. */
async function joinRabbit(node: OwnRabbit, port: number): Promise<void> {
  await node.stopApp()
  await node.ctl('join_cluster', rabbitNode(port))
  await node.startApp()
}

/** Timeout of several commands that each start a virtual machine. */
const SHELL_MS = 240_000

/**
 * Starts a broker for this test alone: some 5 s.
 * @param settings lines of rabbitmq.conf
 * @param folder an existing empty folder; default: a new one
 */
export async function startRabbit(
  settings: readonly string[] = [],
  cookie = randomBytes(20).toString('hex'),
  plugins: readonly string[] = [],
  folder = mkdtempSync(join(tmpdir(), 'signalbox-rabbitmq-')),
): Promise<OwnRabbit> {
  const bin = await rabbitBinaries()
  if (!bin) throw new Error('fault tests need RabbitMQ installed (Debian: rabbitmq-server)')
  const port = await freePort()
  let broker = await startLocalRabbit(bin, folder, port, { settings, cookie, plugins })
  const ctl = (...args: string[]) =>
    mustRun([...(broker.control.rabbitmqctl ?? []), ...args], { env: { ...process.env, ...broker.control.env } })
  const evaluate = async (expression: string) => {
    // erl_call is a part of Debian's erlang-base. It reports an error with exit code 0.
    const line = 'printf "%s.\\n" "$0" | erl_call -c "$1" -sname "$2" -e'
    const output = await mustRun(['sh', '-c', line, expression, cookie, rabbitNode(port)])
    if (!output.startsWith('{ok, ')) throw new Error(`${expression} failed: ${output.slice(0, 500)}`)
    return output.slice('{ok, '.length, -1)
  }
  const stop = async () => {
    const node = await identify(broker.pid)
    if (node) await stopProcess(node, 'SIGTERM', 30_000)
  }
  // After a failed write that file is closed, and the node can no longer update it.
  const settle = async () => void (await evaluate('catch dets:sync(ra_directory_reverse)'))
  const drop = async () => {
    await killNow(broker.pid)
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
  return {
    url: broker.url,
    port,
    ctl,
    evaluate,
    shell: (line) =>
      mustRun(['sh', '-c', line], {
        env: { ...process.env, ...broker.control.env, PATH: `${bin}:${process.env.PATH}` },
        timeoutMs: SHELL_MS,
      }),
    stop,
    settle,
    kill: async () => {
      await settle()
      await killNow(broker.pid)
    },
    freeze: (isOn) =>
      void process.kill(Number(readFileSync(join(folder, 'pid'), 'utf8')), isOn ? 'SIGSTOP' : 'SIGCONT'),
    start: async () => {
      broker = await startLocalRabbit(bin, folder, port, { settings, cookie, plugins })
    },
    stopApp: async () => void (await evaluate('rabbit:stop()')),
    startApp: async () => void (await evaluate('rabbit:start()')),
    setMemoryWatermark: async (fraction) =>
      void (await evaluate(`vm_memory_monitor:set_vm_memory_high_watermark(${fraction.toFixed(2)})`)),
    setDiskLimit: async (bytes) => void (await evaluate(`rabbit_disk_monitor:set_disk_free_limit(${bytes})`)),
    drop,
    [Symbol.asyncDispose]: drop,
  }
}

/** Creates a self-signed certificate for the loopback, readable by the given server only. */
export async function certificateFor(server: 'postgres' | 'rabbitmq') {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-certificate-'))
  chmodSync(folder, 0o755)
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost']
  const out = ['-keyout', key, '-out', cert, '-days', '2']
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, ...out], { stdio: 'pipe' })
  const user = await serviceUser(server)
  if (user) for (const file of [cert, key]) chownSync(file, user.uid, user.gid)
  chmodSync(key, 0o600)
  return { cert, key, [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true }) }
}

async function killPostgres(pid: number, folder: string): Promise<void> {
  for (const each of await processesOf(pid)) await killNow(each)
  // The process id of the dead server stays in use until its parent reaps it, so the server would seem alive.
  for (const name of readdirSync(folder).filter((name) => name.endsWith('.lock'))) rmSync(join(folder, name))
  rmSync(join(folder, 'data/postmaster.pid'), { force: true })
}

async function killNow(pid: number): Promise<void> {
  const running = await identify(pid)
  if (running) await stopProcess(running, 'SIGKILL', 10_000)
}
