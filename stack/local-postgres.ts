import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { postgresRefusal, untilAnswers } from './probe.ts'
import { mustRun, runCommand } from './run-command.ts'
import { makePrivateFolder, type ServiceUser, serviceUser } from './service-user.ts'

export type LocalPostgres = { url: string; port: number; pid: number }

/** Returns the folder of initdb and pg_ctl (newest version); undefined without PostgreSQL. */
export async function postgresBinaries(): Promise<string | undefined> {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  const packaged = versions
    .map((version) => join(debian, version, 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')))
  if (packaged) return packaged
  const { code, stdout } = await runCommand(['pg_config', '--bindir'])
  const configured = stdout.trim()
  return code === 0 && existsSync(join(configured, 'initdb')) ? configured : undefined
}

/**
 * Starts a server on the loopback. The first start initializes `folder`.
 * @param options server settings as in postgresql.conf (`fsync: 'off'`)
 * @throws Error with the end of the server's log
 */
export async function startLocalPostgres(
  bin: string,
  folder: string,
  port: number,
  options: Readonly<Record<string, string>> = {},
): Promise<LocalPostgres> {
  const user = await serviceUser('postgres')
  makePrivateFolder(folder, user)
  const data = join(folder, 'data')
  if (!existsSync(join(data, 'PG_VERSION'))) {
    rmSync(data, { recursive: true, force: true }) // left by an interrupted initdb
    // Trust authentication is safe, because the server listens on the loopback only.
    await mustRun(
      [join(bin, 'initdb'), '-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--locale=C.UTF-8'],
      {
        ...user,
        cwd: folder,
      },
    )
  }
  const settings = { listen_addresses: '127.0.0.1', unix_socket_directories: folder, port: String(port), ...options }
  const flags = Object.entries(settings).map(([name, value]) => `-c ${name}='${value}'`)
  const log = join(folder, 'postgres.log')
  const start = [join(bin, 'pg_ctl'), '-D', data, '-l', log, '-o', flags.join(' '), '-w', '-t', '60', 'start']
  const { code } = await runCommand(start, { ...user, cwd: folder, timeoutMs: 90_000 })
  if (code !== 0) {
    const reason = existsSync(log)
      ? readFileSync(log, 'utf8').trim().split('\n').slice(-8).join('\n')
      : 'nothing in its log'
    throw new Error(`PostgreSQL did not start:\n${reason}`)
  }
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  await untilAnswers(() => postgresRefusal(url), { what: `PostgreSQL on port ${port}`, timeoutMs: 30_000 })
  return { url, port, pid: await postmasterPid(data, user) }
}

/** `fast` closes connections; `immediate` is a crash. */
export async function stopLocalPostgres(
  bin: string,
  folder: string,
  mode: 'fast' | 'immediate' = 'fast',
): Promise<void> {
  const user = await serviceUser('postgres')
  await runCommand([join(bin, 'pg_ctl'), '-D', join(folder, 'data'), '-m', mode, '-w', 'stop'], {
    ...user,
    cwd: folder,
  })
}

async function postmasterPid(data: string, user: ServiceUser | undefined): Promise<number> {
  return Number((await mustRun(['head', '-1', join(data, 'postmaster.pid')], { ...user })).trim())
}
