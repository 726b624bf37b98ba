import { spawn } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { identify, stopProcess } from '../../stack/process-identity.ts'
import { runCommand } from '../../stack/run-command.ts'
import { makePrivateFolder, serviceUser } from '../../stack/service-user.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { testLogin } from '../support/template-database.ts'

/** Server sessions per login: fewer than clients, so that they must share. */
const SESSIONS = 4

/** Returns the path of pgbouncer: from PGBOUNCER, the PATH or Debian's package; null if none exists. */
export async function pgbouncerBinary(): Promise<string | null> {
  const named = process.env.PGBOUNCER
  for (const candidate of named ? [named] : ['pgbouncer', '/usr/sbin/pgbouncer']) {
    if ((await runCommand([candidate, '--version'])).code === 0) return candidate
  }
  if (named) throw new Error('the pgbouncer that is named is not there')
  return null
}

/**
 * Starts a pgbouncer for this test alone in front of a server: some 0.2 s.
 * @param settings lines of pgbouncer.ini, beside those that a test needs
 * @param page a whole pgbouncer.ini, in which the server has the place of `host=... port=...`
 * @returns a function that converts an address of the server to one of the pooler
 */
export async function startPgbouncer(
  binary: string,
  server: string,
  settings: readonly string[],
  page = '[databases]\n* = host=primary port=5432\n[pgbouncer]\n',
): Promise<{ through(url: string): string } & AsyncDisposable> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-pgbouncer-'))
  const user = await serviceUser('postgres') // it refuses root
  makePrivateFolder(folder, user)
  const { hostname, port: serverPort, username, password } = new URL(server)
  const port = await freePort()
  const logins = { [testLogin.role]: testLogin.password, [decodeURIComponent(username)]: decodeURIComponent(password) }
  const users = Object.entries(logins).map(([name, secret]) => `"${name}" "${secret}"`)
  const ini = [
    page.replace(/host=\S+ port=\d+/, `host=${hostname} port=${serverPort || '5432'}`),
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = trust',
    `auth_file = ${join(folder, 'users')}`,
    `default_pool_size = ${SESSIONS}`,
    'max_client_conn = 300',
    ...settings,
  ]
  const write = (name: string, lines: readonly string[]) => {
    writeFileSync(join(folder, name), `${lines.join('\n')}\n`, { mode: 0o600 })
    if (user) chownSync(join(folder, name), user.uid, user.gid)
  }
  write('users', users)
  write('pgbouncer.ini', ini)
  const child = spawn(binary, [join(folder, 'pgbouncer.ini')], { ...user, cwd: folder, stdio: 'ignore' })
  const own = await identify(child.pid ?? 0)
  const through = (url: string) => {
    const address = new URL(url)
    address.hostname = '127.0.0.1'
    address.port = String(port)
    return address.href
  }
  await eventually('pgbouncer to answer', () => answers(through(server)))
  return {
    through,
    async [Symbol.asyncDispose]() {
      if (own) await stopProcess(own, 'SIGKILL', 10_000)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}
