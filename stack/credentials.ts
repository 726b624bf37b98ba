import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { runCommand } from './run-command.ts'
import { writePrivately } from './service-state.ts'
import { LOADER } from './stack-settings.ts'

const root = resolve(import.meta.dirname, '..')

/** @throws Error if the command fails */
export type RunAdmin = (args: readonly string[]) => Promise<string>

type Credentials = { project: ProjectKeys; client: ClientKeys }
type ProjectKeys = { projectId: string; apiKey: string; apiKeyReadonly: string; pingKey: string }
type ClientKeys = { clientId: string; clientSecret: string; env: string; apiKey?: string }

/**
 * Returns the first project and a sandbox client. Creates them if the database does not contain them.
 * @throws Error with the output of the command
 */
export async function ensureCredentials(folder: string, admin: RunAdmin, address: string): Promise<Credentials> {
  const file = join(folder, 'demo.json')
  const stored: Credentials | null = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null
  const isUsable = stored !== null && (await isKeyKnown(address, stored.project.apiKey))
  const credentials = isUsable ? stored : await createCredentials(admin)
  writePrivately(file, `${JSON.stringify(credentials, null, 2)}\n`)
  writePrivately(join(folder, 'keys.env'), exportLine(credentials, address))
  return credentials
}

async function createCredentials(admin: RunAdmin): Promise<Credentials> {
  const project = await admin(['project', 'create', '--name', 'Demo', '--json'])
  const client = await admin([
    'client',
    'create',
    '--name',
    'Demo',
    '--env',
    'SANDBOX',
    '--families',
    'all',
    '--scopes',
    'usage:read,webhooks:manage',
    '--json',
  ])
  return { project: JSON.parse(project), client: JSON.parse(client) }
}

/** The database may have been created again under its old name, or the project was deleted. */
export async function isKeyKnown(address: string, apiKey: string): Promise<boolean> {
  const response = await fetch(`${address}/api/v3/checks/?slug=none`, { headers: { 'X-Api-Key': apiKey } })
  return response.status !== 401
}

/** Returns undefined if an owner has signed up already. */
export async function setupLink(admin: RunAdmin): Promise<string | undefined> {
  const { link }: { link: string | null } = JSON.parse(await admin(['setup-link', '--json']))
  return link ?? undefined
}

/** Runs commands in separate processes with these settings. */
export function adminWith(env: Readonly<Record<string, string>>): RunAdmin {
  return async (args) => {
    const command = [process.execPath, ...LOADER, 'ingress/admin.ts', ...args]
    const { code, stdout, stderr } = await runCommand(command, { cwd: root, env: { ...process.env, ...env } })
    if (code !== 0) throw new Error(`admin ${args.slice(0, 2).join(' ')} failed:\n${stderr.trim() || stdout.trim()}`)
    return stdout.trim()
  }
}

/** Sets the names that the documentation uses. */
export function exportLine({ project, client }: Credentials, address: string): string {
  return `export SIGNALBOX_URL=${address} PROJECT_ID=${project.projectId} API_KEY=${project.apiKey} PING_KEY=${project.pingKey} CLIENT_ID=${client.clientId} CLIENT_SECRET=${client.clientSecret}\n`
}

interface Introduction {
  /** the one-time link for the first owner, or the pages */
  open: string
  pingKey: string
  /** absent if a mail server sends the mail */
  mailPage: string | undefined
}

export function introduction(address: string, { open, pingKey, mailPage }: Introduction): string {
  return `
Signalbox is up at ${address}

  Open this link  ${open}
  Ping this       curl '${address}/ping/${pingKey}/first-check?create=1'
${mailPage === undefined ? '' : `  Read mail here  ${mailPage}\n`}
Sample data: make demo. Evidence packs: make try. Keys for a shell: . .local/keys.env
`
}
