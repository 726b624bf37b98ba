import { randomUUID } from 'node:crypto'
import test from 'ava'
import { createTransport } from 'nodemailer'
import { integrationKinds } from '#shared/monitoring/integrations/kinds.ts'
import type { MoveInReport } from '#shared/monitoring/move-in/report.ts'
import { eventually } from '../../support/eventually.ts'
import { type HttpSink, openHttpSink } from '../../support/http-sink.ts'
import { type HttpProduct, MAIL_DOMAIN } from '../../support/product.ts'
import { jsonOf, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import versions from '../../vectors/move-in/healthchecks-versions.json' with { type: 'json' }
import { importing } from './importing.ts'

let app: HttpProduct
let source: HttpSink
let admin: ReturnType<typeof importing>['admin']
let createProject: ReturnType<typeof importing>['createProject']
let api: ReturnType<typeof importing>['api']

test.before(async () => {
  app = await sharedProduct({ env: { PING_EMAIL_DOMAIN: MAIL_DOMAIN } })
  ;({ admin, createProject, api } = importing(app))
  source = await openHttpSink()
})
test.after.always(async () => await source?.[Symbol.asyncDispose]())

async function move(projectId: string): Promise<MoveInReport & { exit: number }> {
  const own = ['--project', projectId, '--url', source.url, '--api-key', 'k'.repeat(32), '--apply', '--json']
  const { status, stdout, stderr } = await admin('import-from', 'healthchecks', ...own)
  if (stdout === '') throw new Error(stderr)
  return { ...JSON.parse(stdout), exit: status }
}

/** A check of the fixture under another uuid, because the tests share a database. */
function checkOf(version: string): { uuid: string; members: object } {
  const uuid = randomUUID()
  const [found] = versions.filter((one) => one.version === version)
  if (!found) throw new Error(`the fixture has no version ${version}`)
  const old = found.check.ping_url.slice(-36)
  return {
    uuid,
    members: JSON.parse(
      JSON.stringify(found.check)
        .replaceAll(old, uuid)
        .replace(/\/b\/2\/[^.]*/, `/b/2/${randomUUID()}`),
    ),
  }
}

test.serial('an old server is read with its API version, also if it limits requests', async (t) => {
  const made = await createProject()
  const { uuid, members } = checkOf('1.10')
  const kinds = [...integrationKinds.keys(), 'hipchat']
  const channels = kinds.map((kind) => ({ id: randomUUID(), name: `One ${kind}`, kind }))
  let isLimited = true
  source.respond = ({ path }) => {
    if (!path.startsWith('/api/v1/')) return { status: 404 }
    if (isLimited) {
      isLimited = false
      return { status: 429, headers: { 'retry-after': '1' } }
    }
    return { body: JSON.stringify(path.endsWith('/checks/') ? { checks: [members] } : { channels, badges: {} }) }
  }
  const applied = await move(made.projectId)
  t.like(applied, { exit: 0, applied: true, create: [{ id: uuid, name: 'Nightly backup' }] })
  t.deepEqual(
    applied.integrations.map(({ kind }) => kind),
    kinds.slice(0, -1),
  )
  t.true(applied.notTaken.some(({ subject }) => subject === 'integration One hipchat (hipchat)'))
  t.is(
    applied.toDo.filter((line) => line.startsWith('enter the settings of integration One ')).length,
    kinds.length - 1,
  )
  t.like(await move(made.projectId), { create: [], update: [], integrations: [], unchanged: 1 })
})

test.serial('jobs reach an imported check by the name of the old server, and by mail', async (t) => {
  const made = await createProject()
  const { uuid, members } = checkOf('4.3')
  source.respond = ({ path }) => ({
    body: JSON.stringify(path.endsWith('/checks/') ? { checks: [members] } : { channels: [], badges: {} }),
  })
  await move(made.projectId)
  const check = async () => jsonOf(await api(made.apiKey, `/checks/${uuid}`)) as { status: string; n_pings: number }
  // The requests of runitor and borgmatic, to the name that now leads here.
  const rid = randomUUID()
  const requests: [path: string, method: string][] = [
    [`/ping/${uuid}/start?create=0&rid=${rid}`, 'POST'],
    [`/ping/${uuid}/log`, 'POST'],
    [`/ping/${uuid}/0?create=0&rid=${rid}`, 'POST'],
    [`/ping/${uuid}/fail`, 'POST'],
    [`/ping/${uuid}`, 'POST'],
  ]
  for (const [path, method] of requests) {
    const headers = { host: 'hc.example.org', 'user-agent': 'runitor/1.4' }
    t.like(await send(app.url, path, { method, headers, body: 'output' }), { status: 200, text: 'OK' }, path)
  }
  t.like(await check(), { status: 'up', n_pings: requests.length })
  const { port } = await app.mail()
  const mails = createTransport({ host: '127.0.0.1', port, secure: false, ignoreTLS: true })
  const sent = await mails.sendMail({
    from: 'job@example.org',
    to: `${uuid}@${MAIL_DOMAIN}`,
    subject: 'OK',
    text: 'OK',
  })
  t.is(sent.response, '250 OK')
  await eventually('the mail to count', async () => (await check()).n_pings === requests.length + 1)
})
