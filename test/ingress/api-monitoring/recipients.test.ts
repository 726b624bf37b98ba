import test from 'ava'
import { insertMembership, insertUser } from '#shared/tenancy/accounts/store.ts'
import { integrationCommands } from '../../../ingress/admin/integration.ts'
import { runAdmin } from '../../../ingress/admin/run.ts'
import { eventually } from '../../support/eventually.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { addProject, type TestProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'
import { openSmtpSink, type SmtpSink } from '../../support/smtp-sink.ts'

let app: HttpProduct
let smtp: SmtpSink
test.before(async () => {
  smtp = await openSmtpSink()
  app = await openProduct({
    listener: 'http',
    workers: ['ping-evaluator', 'notifier', 'mailer'],
    env: { SMTP_URL: smtp.url },
  })
})
test.after.always(async () => {
  await app?.[Symbol.asyncDispose]()
  await smtp?.[Symbol.asyncDispose]()
})

async function call(owner: TestProject, method: string, path: string, body?: unknown) {
  const text = body === undefined ? {} : { body: JSON.stringify(body) }
  const answer = await send(app.url, `/api/v3/${path}`, { method, headers: { 'X-Api-Key': owner.rwKey }, ...text })
  // every answer of these tests is an object
  return { status: answer.status, body: jsonOf(answer) as Record<string, string> }
}

const isVerified = async (uuid: string | undefined) =>
  (await app.deps.db('integrations').where({ uuid }).first('email_verified'))?.email_verified

/** The link by which a recipient agrees; the mail is taken out of the sink. */
async function agreeAs(address: string): Promise<void> {
  const mail = await smtp.waitFor((one) => one.to.includes(address))
  smtp.mails.splice(smtp.mails.indexOf(mail), 1)
  const link = /http:\S+\/confirm\/[\w-]+/.exec(mail.raw.toString().replaceAll('=\r\n', ''))?.[0] ?? ''
  await send(app.url, new URL(link).pathname, { method: 'POST' })
}

test('an address set by the API gets only the confirmation mail until its holder agrees', async (t) => {
  const owner = await addProject(app.deps)
  const config = { value: 'ceo@victim.example' }
  const { body, status } = await call(owner, 'POST', 'channels/', { kind: 'email', name: 'Evil name', config })
  t.is(status, 201)
  t.false(await isVerified(body.id))
  await call(owner, 'POST', `channels/${body.id}/test`)
  const ended = await eventually('the test message to end', async () => {
    const row = await app.deps.db('notifications').whereNot({ state: 'pending' }).first('error')
    return row ?? null
  })
  t.is(ended.error, 'Email not verified')
  await smtp.waitFor((mail) => mail.to.includes('ceo@victim.example'))
  const mails = smtp.mails.filter((mail) => mail.to.includes('ceo@victim.example'))
  t.deepEqual(
    mails.map(({ raw }) => raw.includes('Evil name')),
    [false],
  )
  await agreeAs('ceo@victim.example')
  t.true(await isVerified(body.id))
})

test('a changed address must confirm again, unless it agreed in this project before', async (t) => {
  const owner = await addProject(app.deps)
  const { body } = await call(owner, 'POST', 'channels/', { kind: 'email', config: { value: 'a@agrees.example' } })
  await agreeAs('a@agrees.example')
  t.true(await isVerified(body.id))
  await call(owner, 'POST', `channels/${body.id}`, { config: { value: 'b@other.example' } })
  t.false(await isVerified(body.id), 'another address')
  await call(owner, 'POST', `channels/${body.id}`, { name: 'renamed', config: { value: 'b@other.example', up: false } })
  t.false(await isVerified(body.id), 'the same address')
  await call(owner, 'POST', `channels/${body.id}`, { config: { value: 'A@agrees.example' } })
  t.true(await isVerified(body.id), 'who agreed before')
  const stranger = await addProject(app.deps)
  const theirs = await call(stranger, 'POST', 'channels/', { kind: 'email', config: { value: 'a@agrees.example' } })
  t.false(await isVerified(theirs.body.id), 'agreed to another project')
})

test('the address of a member needs no confirmation if it is verified', async (t) => {
  const owner = await addProject(app.deps)
  for (const [email, isEmailVerified] of [
    ['member@m2.example', true],
    ['claimed@m2.example', false],
  ] as const) {
    const user = await insertUser(app.deps.db, { email, name: '', passwordHash: null, isEmailVerified })
    const { organisationId } = owner.project
    await insertMembership(app.deps.db, { organisationId, userId: user?.id ?? 0, role: 'member' })
    const { body } = await call(owner, 'POST', 'channels/', { kind: 'email', config: { value: email } })
    t.is(await isVerified(body.id), isEmailVerified, email)
  }
})

test('an imported new or changed address must confirm; those of the operator need not', async (t) => {
  const owner = await addProject(app.deps)
  const id = crypto.randomUUID()
  const document = (value: string) => ({ channels: [{ id, kind: 'email', name: '', config: { value } }] })
  t.is((await call(owner, 'POST', 'import?apply=1', document('imported@m2.example'))).status, 200)
  t.false(await isVerified(id))
  await agreeAs('imported@m2.example')
  t.true(await isVerified(id))
  await call(owner, 'POST', 'import?apply=1', document('imported2@m2.example'))
  t.false(await isVerified(id))
  const { config, db, secrets, log } = app.deps
  const context = { config, db, secrets, log, actor: 'test', async [Symbol.asyncDispose]() {} }
  const options = { project: owner.project.uuid, kind: 'email', name: 'ops', config: '{"value":"ops@m2.example"}' }
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
  const made = await runAdmin(['integration', 'create', ...args, '--json'], integrationCommands, async () => context)
  t.true(await isVerified(JSON.parse(made.stdout).integrationId))
})

test('an address gets at most ten requests to confirm; then nothing is stored', async (t) => {
  const owner = await addProject(app.deps)
  const body = { kind: 'email', config: { value: 'often@m2.example' } }
  const statuses: number[] = []
  for (let n = 0; n < 11; n++) statuses.push((await call(owner, 'POST', 'channels/', body)).status)
  t.deepEqual(statuses, [...Array.from({ length: 10 }, () => 201), 429])
  t.is((await app.deps.db('integrations').where({ project_id: owner.project.id })).length, 10)
})
