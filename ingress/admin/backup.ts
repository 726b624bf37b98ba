import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import knex, { type Knex } from 'knex'
import { z } from 'zod'
import { UnavailableError, ValidationError } from '#shared/errors.ts'
import { createDatabase, dropDatabase, exportSnapshot } from '#shared/platform/database/copy-store.ts'
import { primaryAddress, splitHosts } from '#shared/platform/database/hosts.ts'
import type { Config } from '#shared/platform/process/config.ts'
import { productVersion } from '#shared/platform/process/version.ts'
import { type AdminContext, type Command, type Finding, findingLines, textOf } from './command.ts'
import { compareInventories, databaseFindings, type Inventory, takeInventory } from './database-findings.ts'

const execFileAsync = promisify(execFile)

const DUMP = 'signalbox.dump'
const MANIFEST = 'manifest.json'
/** Directories in which the PostgreSQL client is searched. */
const TOOL_PATH = '/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin'
/** Output limit of pg_dump and pg_restore, which print little. */
const OUTPUT_BYTES = 10_000_000

const manifestShape = z.object({
  version: z.string(),
  at: z.string(),
  sha256: z.string(),
  inventory: z.object({
    migrations: z.array(z.string()),
    rows: z.record(z.string(), z.number()),
    logs: z.record(z.string(), z.object({ size: z.number(), root: z.string() })),
  }),
})

const write: Command = {
  noun: 'backup',
  verb: 'write',
  summary: 'Write a dump of the database into a folder, with a manifest to verify it',
  examples: ['backup write --to /var/backups/signalbox'],
  help: [
    'Needs pg_dump of the same or a newer version than the server. The manifest counts rows and transparency log entries',
    'in the same snapshot as the dump. Encrypted values can only be read with SECRET_KEY: do not keep it in this folder.',
  ],
  options: {
    to: {
      description: 'a folder that only you can open; created with mode 0700 if missing',
      value: 'FOLDER',
      required: true,
    },
  },
  async run(options, { config }) {
    const folder = textOf(options, 'to')
    refuseSharedSessions(config)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    if ((await stat(folder)).mode & 0o077) {
      throw new ValidationError(`${folder} is open to other users of this machine: chmod 700`)
    }
    const url = await primaryAddress(config.databaseOwnerUrl ?? config.databaseUrl)
    const file = join(folder, DUMP)
    // pg_dump truncates an existing file and keeps its mode.
    await writePrivateFile(file, '')
    const inventory = await withDatabase(url, async (db) =>
      exportSnapshot(db, async (tx, snapshot) => {
        const dumpOptions = [
          '--format=custom',
          '--no-owner',
          '--no-privileges',
          `--snapshot=${snapshot}`,
          `--file=${file}`,
        ]
        await postgresTool('pg_dump', dumpOptions, url)
        return await takeInventory(tx)
      }),
    )
    const sha256 = await hashOf(file)
    const manifest = { version: productVersion(), at: new Date().toISOString(), sha256, inventory }
    await writePrivateFile(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`)
    const rows = Object.values(inventory.rows).reduce((sum, count) => sum + count, 0)
    return {
      json: { folder, sha256, rows, logs: inventory.logs },
      text: `${file}: ${rows} rows, sha256 ${sha256}\nadmin backup verify --from ${folder} restores it into a separate database and compares`,
    }
  },
}

const verify: Command = {
  noun: 'backup',
  verb: 'verify',
  summary: 'Restore a backup into a separate database, compare, and drop the database',
  examples: ['backup verify --from /var/backups/signalbox'],
  help: ['The login of DATABASE_OWNER_URL, else of DATABASE_URL, must be allowed to make databases.'],
  options: {
    from: { description: 'the folder of backup write', value: 'FOLDER', required: true },
    keep: { description: 'keep the restored database and print its name' },
  },
  async run(options, context) {
    const folder = textOf(options, 'from')
    const started = performance.now()
    const manifest = readManifest(await readFile(join(folder, MANIFEST), 'utf8'))
    const file = join(folder, DUMP)
    const isUnchanged = (await hashOf(file)) === manifest.sha256
    const findings: Finding[] = [
      { what: 'dump', ok: isUnchanged, text: isUnchanged ? 'is unchanged' : 'was changed after it was written' },
    ]
    const name = `signalbox_drill_${randomBytes(4).toString('hex')}`
    const isKept = isUnchanged && options.keep === true
    if (isUnchanged) findings.push(...(await restoreInto(name, file, manifest.inventory, context, isKept)))
    const seconds = Math.round((performance.now() - started) / 100) / 10
    const failed = findings.some(({ ok }) => !ok)
    const text = findingLines(findings)
    if (isKept) text.push(`kept as ${name}`)
    return {
      json: { healthy: !failed, at: manifest.at, seconds, findings, database: isKept ? name : null },
      text: [...text, `verification took ${seconds} s`].join('\n'),
      failed,
    }
  },
}

export const backupCommands: readonly Command[] = [write, verify]

/** @throws ValidationError if the text is no manifest */
function readManifest(text: string) {
  try {
    return manifestShape.parse(JSON.parse(text))
  } catch {
    throw new ValidationError(`${MANIFEST} was not written by backup write`)
  }
}

/**
 * pg_dump changes session settings (for example an empty search_path), which a pooler would pass to the next client.
 */
function refuseSharedSessions({ databasePooler, databaseUrl, databaseOwnerUrl = databaseUrl }: Config): void {
  const hostsOf = (url: string) => splitHosts(url).map((one) => new URL(one).host)
  const isSame = hostsOf(databaseUrl).join() === hostsOf(databaseOwnerUrl).join()
  if (databasePooler === 'transaction' && isSame) {
    throw new ValidationError(
      'pg_dump cannot use a transaction pooler: set DATABASE_OWNER_URL to the address of the server itself',
    )
  }
}

async function restoreInto(
  name: string,
  file: string,
  expected: Inventory,
  { config, secrets }: AdminContext,
  isKept: boolean,
): Promise<Finding[]> {
  const server = await primaryAddress(config.databaseOwnerUrl ?? config.databaseUrl)
  const url = new URL(server)
  url.pathname = `/${name}`
  return await withDatabase(server, async (admin) => {
    await createDatabase(admin, name)
    try {
      const restoreOptions = ['--no-owner', '--no-privileges', '--exit-on-error', `--dbname=${name}`, file]
      await postgresTool('pg_restore', restoreOptions, url.href)
      return await withDatabase(url.href, async (db) => {
        const findings = await databaseFindings(db, secrets)
        // takeInventory throws if a log is damaged, so a failed finding is reported alone.
        if (findings.some(({ ok }) => !ok)) return findings
        return [...findings, ...compareInventories(expected, await takeInventory(db))]
      })
    } finally {
      if (!isKept) await dropDatabase(admin, name)
    }
  })
}

async function withDatabase<T>(url: string, work: (db: Knex) => Promise<T>): Promise<T> {
  const db = knex({ client: 'pg', connection: url, pool: { min: 0, max: 1 } })
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}

/** Passes the login in the environment, because every user of the machine sees a command line. */
async function postgresTool(tool: 'pg_dump' | 'pg_restore', args: readonly string[], url: string): Promise<void> {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url)
  const mode = searchParams.get('sslmode')
  const env = {
    PATH: TOOL_PATH,
    PGHOST: hostname.replace(/^\[(.*)\]$/, '$1'),
    PGPORT: port || '5432',
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: decodeURIComponent(pathname.slice(1)),
    ...(mode === null ? {} : { PGSSLMODE: mode }),
  }
  try {
    await execFileAsync(tool, [...args], { env, maxBuffer: OUTPUT_BYTES })
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (isMissing) throw new UnavailableError(`${tool} is not in ${TOOL_PATH}: install the client of PostgreSQL`)
    const reason = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : 'failed'
    throw new UnavailableError(`${tool}: ${reason}`)
  }
}

/** Replaces a file by one with mode 0600. */
async function writePrivateFile(path: string, text: string): Promise<void> {
  await rm(path, { force: true })
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(text)
  } finally {
    await file.close()
  }
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
