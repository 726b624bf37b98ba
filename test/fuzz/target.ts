import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createTeam, join } from '../ingress/web/people.ts'
import { freePort } from '../support/free-port.ts'
import { demoRequest, openClient } from '../support/platform-client.ts'
import { type HttpProduct, listeningPort, openProduct, type SpawnedProcess } from '../support/product.ts'
import { addCheck, addProject } from '../support/projects.ts'
import type { Known } from './http-request.ts'
import { allRoutes, type FuzzRoute } from './routes.ts'

const MAIL_DOMAIN = 'mail.example.org'

/** The product in three processes, with one tenant at a time. */
export interface Target extends AsyncDisposable {
  /** its URL is that of the spawned ingress */
  app: HttpProduct
  routes: readonly FuzzRoute[]
  httpPort: number
  mailPort: number
  /** readiness of the workers */
  workersUrl: string
  processes: Readonly<Record<string, SpawnedProcess>>
  /** creates a tenant with one object of each kind, because earlier requests may have deleted theirs */
  tenant(): Promise<Known & { mailAddress: string }>
  /** resident memory of each process in bytes; 0 if the system does not report it */
  memory(): Record<string, number>
}

export async function openTarget(): Promise<Target> {
  await using opening = new AsyncDisposableStack()
  const product = opening.use(
    await openProduct({
      env: {
        PING_EMAIL_DOMAIN: MAIL_DOMAIN,
        PLATFORM_RATE_LIMIT_PER_MINUTE: '0',
        PING_RATE_LIMIT_PER_MINUTE: '0',
      },
    }),
  )
  const { deps } = await product.ingress()
  const ingress = product.spawn('ingress')
  const smtp = product.spawn('smtp')
  const workersPort = await freePort()
  const workers = product.spawn('workers', [], { METRICS_PORT: String(workersPort) })
  const httpPort = await listeningPort(ingress)
  const mailPort = await listeningPort(smtp)
  const base = `http://127.0.0.1:${httpPort}`
  const processes = { ingress, smtp, workers }
  const app = Object.assign(product, { url: base, port: httpPort, deps })

  const resources = opening.move()
  return {
    app,
    workersUrl: `http://127.0.0.1:${workersPort}`,
    routes: allRoutes(deps),
    httpPort,
    mailPort,
    processes,
    async tenant() {
      const team = await createTeam(app, `Team ${randomUUID()}`)
      const person = await join(app, team, 'owner', `${randomUUID()}@example.com`)
      const { project, rwKey, pingKey } = await addProject(deps)
      const check = await addCheck(deps, project.id, { slug: 'job', name: 'job' })
      const shown = await addCheck(deps, team.project.id, { name: 'shown' })
      const client = await openClient(product, base)
      const { json } = await client.post('/v1/po/risk-signals/packs', demoRequest)
      const subject = await client.post('/v1/identity/subjects', { externalRef: 'C-1', kind: 'PERSON' })
      const variables: Record<string, string> = {
        subjectId: String(subject.json?.subjectId),
        uuid: check.uuid,
        pingKey,
        slug: 'job',
        exitStatus: '1',
        n: '1',
        check: shown.uuid,
        project: team.project.uuid,
        organisation: team.organisationUuid,
        env: 'sandbox',
        packId: String(json?.packId ?? json?.id ?? randomUUID()),
        kind: 'webhook',
        version: 'v3',
      }
      return {
        variables,
        apiKey: rwKey,
        bearer: client.token,
        cookie: [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        csrf: await person.token('/account'),
        mailAddress: `${check.uuid}@${MAIL_DOMAIN}`,
      }
    },
    memory: () => Object.fromEntries(Object.entries(processes).map(([name, { pid }]) => [name, residentBytes(pid)])),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

function residentBytes(pid: number): number {
  if (process.platform !== 'linux') return 0
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}
