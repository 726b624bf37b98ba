import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { runCommand } from './run-command.ts'
import { writePrivately } from './service-state.ts'
import { LOADER } from './stack-settings.ts'

const root = resolve(import.meta.dirname, '..')

/** @throws Error if the command fails */
type RunAdmin = (args: readonly string[]) => Promise<string>

export type Demo = { project: DemoProject; client: DemoClient }
type DemoProject = { projectId: string; apiKey: string; apiKeyReadonly: string; pingKey: string }
type DemoClient = { clientId: string; clientSecret: string; env: string; apiKey?: string }

/**
 * Returns the demo project and sandbox client. Creates them if the database does not contain them.
 * @throws Error with the output of the command
 */
export async function demoCredentials(folder: string, admin: RunAdmin, address: string): Promise<Demo> {
  const file = join(folder, 'demo.json')
  if (existsSync(file)) {
    const demo: Demo = JSON.parse(readFileSync(file, 'utf8'))
    if (await isKnown(address, demo.project)) return demo
  }
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
  const demo: Demo = { project: JSON.parse(project), client: JSON.parse(client) }
  writePrivately(file, `${JSON.stringify(demo, null, 2)}\n`)
  return demo
}

/** The database may have been created again under its old name. */
async function isKnown(address: string, { apiKey }: DemoProject): Promise<boolean> {
  const response = await fetch(`${address}/api/v3/checks/?slug=none`, { headers: { 'X-Api-Key': apiKey } })
  return response.status !== 401
}

/** @returns undefined if there is no unused sign-in link */
export async function setupLink(admin: RunAdmin): Promise<string | undefined> {
  try {
    const link = await admin(['setup-link'])
    return link === '' ? undefined : link
  } catch {
    return undefined
  }
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

export function introduction(address: string, { project, client }: Demo, more: readonly string[]): string {
  const check = '{"name":"Demo","slug":"demo","timeout":3600,"grace":300,"unique":["slug"]}'
  const pack =
    '{"mode":"DEMO","buyerGstin":"27AAACB1234C1ZF","borrowerGstin":"29AAACR5678D1Z5","subcontractorGstin":"24AAFFS4321K1ZA","poValue":2500000}'
  return `
Signalbox is up at ${address}

  project id     ${project.projectId}
  API key        ${project.apiKey}   (read-only: ${project.apiKeyReadonly})
  ping key       ${project.pingKey}
  client id      ${client.clientId}   (${client.env})
  client secret  ${client.clientSecret}
${more.map((line) => `  ${line}\n`).join('')}
For a shell, with the names that the documentation uses:

  export PROJECT_ID=${project.projectId} API_KEY=${project.apiKey} PING_KEY=${project.pingKey} CLIENT_ID=${client.clientId} CLIENT_SECRET=${client.clientSecret}

Create a check, ping it, read it back:

  curl -s ${address}/api/v3/checks/ -H 'X-Api-Key: ${project.apiKey}' -d '${check}'
  curl -s ${address}/ping/${project.pingKey}/demo
  curl -s '${address}/api/v3/checks/?slug=demo' -H 'X-Api-Key: ${project.apiKey}'

Get a token, request a risk signals pack, wait until it is in the log, and verify its anchor offline:

  TOKEN=$(curl -s ${address}/v1/oauth/token -d grant_type=client_credentials -d client_id=${client.clientId} -d client_secret=${client.clientSecret} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
  curl -s ${address}/v1/po/risk-signals -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -H "x-idempotency-key: demo-$(date +%s%N)" -d '${pack}' >pack.json
  TX=$(sed 's/.*"txId":"\\([0-9a-f]*\\)".*/\\1/' pack.json)
  until curl -sf -o proof.json ${address}/v1/anchors/$TX && ! grep -q PENDING proof.json; do sleep 1; done
  npm run -s verify -- pack.json --proof proof.json --key "$(curl -s ${address}/v1/transparency/sandbox/log-key)"
`
}
