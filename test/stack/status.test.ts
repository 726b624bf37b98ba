import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import knex, { type Knex } from 'knex'
import { createTransport } from 'nodemailer'
import { readEnvFile } from '#shared/platform/process/local-env.ts'
import { demo } from '../../stack/demo.ts'
import { down } from '../../stack/down.ts'
import { readState } from '../../stack/service-state.ts'
import { status } from '../../stack/status.ts'
import { up } from '../../stack/up.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { createDatabase, createVhost } from '../support/services.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'

test('make up prints three next steps, make status reports refused pings, make demo pings its checks', async (t) => {
  await using resources = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-status-'))
  resources.defer(() => rmSync(folder, { recursive: true, force: true }))
  const [database, vhost] = [resources.use(await createDatabase()), resources.use(await createVhost())]
  const proxy = resources.use(await startTcpProxy({ port: Number(new URL(vhost.url).port || 5672) }))
  const port = String(await freePort())
  const env = {
    DATABASE_URL: database.url,
    AMQP_URL: proxy.through(vhost.url),
    STACK_SERVICES: 'environment',
    PORT: port,
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    SMTP_PORT: String(await freePort()),
    METRICS_PORT: String(await freePort()),
    CHECKPOINT_DIR: join(folder, 'checkpoints'),
  }
  const lines = async () => {
    const texts: string[] = []
    const isWell = await status(folder, (line) => texts.push(line))
    return { isWell, text: texts.join('\n') }
  }
  t.like(await lines(), {
    isWell: false,
    text: 'no process of this checkout is running: start it with make up. Containers are listed by docker compose ps',
  })
  resources.defer(() => down(folder, () => {}))
  let printed = ''
  await up(env, folder, (line) => (printed += `${line}\n`))
  const db = resources.use(openKnex(database.url))
  t.regex(printed, /^ {2}Open this link {2}http:\S+\/set-up\/\S+$/m)
  const [, ping = ''] = /^ {2}Ping this {7}curl '(http:\S+)'$/m.exec(printed) ?? []
  t.is(await (await fetch(ping)).text(), 'Created')
  const [, mailPage = ''] = /^ {2}Read mail here {2}(http:\/\/localhost:\d+)$/m.exec(printed) ?? []
  t.regex(
    readFileSync(join(folder, 'keys.env'), 'utf8'),
    new RegExp(`^export SIGNALBOX_URL=http://localhost:${port} PROJECT_ID=\\S+ API_KEY=\\S+ PING_KEY=\\S+ `),
  )
  t.is(printed.match(/^ {2}\S/gm)?.length, 3, 'the next steps are three lines')

  const { mail } = readState(folder)
  const transport = createTransport({ host: '127.0.0.1', port: mail?.smtp ?? 0, ignoreTLS: true })
  await transport.sendMail({
    from: 'signalbox@example.com',
    to: 'ada@example.com',
    subject: '<b>Down</b>',
    text: 'See http://localhost:8080/checks/1?a=1&b=2',
    html: '<script>alert(1)</script><p>Down</p>',
  })
  const answer = await fetch(mailPage)
  const page = await answer.text()
  t.true(page.includes('&#60;b&#62;Down'), 'what a mail holds is shown as text')
  t.false(page.includes('<script'))
  t.true(page.includes('<a href="http://localhost:8080/checks/1?a=1&#38;b=2">'))
  t.regex(answer.headers.get('content-security-policy') ?? '', /default-src 'none'/)

  const well = await eventually('all to be well', async () => {
    const now = await lines()
    return now.isWell ? now : null
  })
  t.regex(well.text, /^address {4}http/m)
  t.regex(well.text, /^pings {6}are accepted$/m)
  t.true(well.text.includes(`mail       is caught, to be read at ${mailPage}`))
  proxy.cut({ refusing: true })
  const broken = await eventually('the refusal to be reported', async () => {
    const now = await lines()
    return now.text.includes('REFUSED') && /NOT READY: .*broker/.test(now.text) ? now : null
  })
  t.false(broken.isWell)
  t.regex(broken.text, /^all {8}runs, pid \d+, NOT READY: .*broker/m)
  proxy.restore()

  const started = readEnvFile(join(folder, 'env'))
  let demoPrinted = ''
  await demo({ STACK_SERVICES: 'environment' }, folder, (line) => (demoPrinted += `${line}\n`))
  t.deepEqual(readEnvFile(join(folder, 'env')), started, 'make demo keeps all settings of make up')
  const [, uuid = ''] = /\/projects\/([0-9a-f-]{36})\/checks$/m.exec(demoPrinted) ?? []
  const late = db.knex('checks').where({
    slug: 'cache-warmer',
    project_id: db.knex('projects').where({ uuid }).select('id'),
  })
  const { n_pings: before } = await late.clone().first('n_pings')
  await late.clone().update({
    last_ping: db.knex.raw(`now() - interval '11 minutes'`),
    alert_after: db.knex.raw(`now() + interval '4 minutes'`),
  })
  await eventually('the demo to ping an overdue check', async () => {
    const { n_pings } = await late.clone().first('n_pings')
    return Number(n_pings) > Number(before) ? true : null
  })
  await down(folder, () => {})
  t.deepEqual(readState(folder).processes, {})

  await ageHeartbeats(db.knex)
  await up(env, folder, () => {})
  const fullGaps = () => db.knex('coverage_gaps').where({ kind: 'full' })
  t.deepEqual(await fullGaps().whereNull('until_at').pluck('listener'), [], 'make up returns after the gap has ended')
  await eventually('both gaps to be stored', async () => (await fullGaps().distinct('listener')).length === 2)
})

/** Makes the last heartbeats an hour older, as if the machine had been off. */
async function ageHeartbeats(db: Knex): Promise<void> {
  const hour = db.raw(`interval '1 hour'`)
  const older = { from_at: db.raw('from_at - ?', [hour]), until_at: db.raw('until_at - ?', [hour]) }
  await db('listener_heartbeats').update(older)
}

function openKnex(connection: string) {
  const db = knex({ client: 'pg', connection, pool: { min: 0, max: 1 } })
  return { knex: db, [Symbol.asyncDispose]: () => db.destroy() }
}
