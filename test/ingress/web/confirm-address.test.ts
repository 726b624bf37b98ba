import test from 'ava'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { openSmtpSink, type SmtpSink } from '../../support/smtp-sink.ts'
import { createTeam, emailOf, join, type Team } from './people.ts'
import { createVisitor, type Visitor } from './visitor.ts'

let app: HttpProduct
let smtp: SmtpSink
let team: Team
let owner: Visitor

test.before(async () => {
  smtp = await openSmtpSink()
  app = await openProduct({ listener: 'http', workers: ['ping-evaluator', 'mailer'], env: { SMTP_URL: smtp.url } })
})
/** Creates a project with an owner for each test. */
async function setUp(): Promise<void> {
  team = await createTeam(app, 'Team')
  owner = await join(app, team, 'owner')
}
test.after.always(async () => {
  await app?.[Symbol.asyncDispose]()
  await smtp?.[Symbol.asyncDispose]()
})

const fields = (address: string) => ({ name: 'On-call', 'option-value': address, 'option-down': 'on' })

async function create(address: string): Promise<string> {
  const made = await owner.post(`/projects/${team.project.uuid}/integrations/new/email`, fields(address))
  return /\/integrations\/([0-9a-f-]{36})/.exec(made.headers.location ?? '')?.[1] ?? ''
}

const isVerified = async (uuid: string) =>
  (await app.deps.db('integrations').where({ uuid }).first('email_verified'))?.email_verified

async function mailedText(to: string): Promise<string> {
  const mail = await smtp.waitFor((one) => one.to.includes(to))
  smtp.mails.splice(smtp.mails.indexOf(mail), 1)
  return mail.raw.toString().replaceAll('=\r\n', '')
}

async function mailedPath(to: string): Promise<string> {
  const text = await mailedText(to)
  return new URL(/http:\S+\/confirm\/[\w-]+/.exec(text)?.[0] ?? '').pathname
}

test.serial('mails to the user’s address need no consent', async (t) => {
  await setUp()
  const uuid = await create(emailOf(team, 'owner').replace('example.com', 'Example.com'))
  t.true(await isVerified(uuid))
  t.is(smtp.mails.length, 0)
})

test.serial('a recipient consents by a button, not by opening the link', async (t) => {
  await setUp()
  const uuid = await create('someone@example.com')
  t.false(await isVerified(uuid))
  t.true((await owner.get(`/integrations/${uuid}`)).text.includes('Waiting for its recipient'))
  const path = await mailedPath('someone@example.com')
  const recipient = createVisitor(app.url)
  t.is((await recipient.get(path)).status, 200)
  t.false(await isVerified(uuid))
  t.is((await recipient.send(`${path.slice(0, -1)}${path.endsWith('A') ? 'Q' : 'A'}`, {})).status, 404)
  t.is((await recipient.send(path, {})).status, 200)
  t.true(await isVerified(uuid))
  t.false((await owner.get(`/integrations/${uuid}`)).text.includes('Waiting for its recipient'))
  t.is((await owner.post(`/integrations/${uuid}/ask`, {}, '/account')).status, 404)
})

test.serial('the request names the project and the person who entered the address', async (t) => {
  await setUp()
  await create('named@example.com')
  const text = (await mailedText('named@example.com')).replace(/\s+/g, ' ')
  t.true(text.includes(`${emailOf(team, 'owner')} entered this address to receive alerts`), text)
  t.true(text.includes('when checks of the project "Team project" go down'), text)
  await app.deps.db('projects').where({ id: team.project.id }).update({ name: 'see evil.test' })
  await create('careful@example.com')
  t.false((await mailedText('careful@example.com')).includes('evil'), 'a name that could be a link')
})

test.serial('no test is sent to a recipient who has not confirmed', async (t) => {
  await setUp()
  const tested = { ...fields('untested@example.com'), do: 'save-and-test' }
  const made = await owner.post(`/projects/${team.project.uuid}/integrations/new/email`, tested)
  const path = made.headers.location ?? ''
  const page = await owner.get(path)
  t.true(page.text.includes('The integration is saved. Its recipient received a mail to confirm.'))
  t.false(page.text.includes('Send a test<'))
  await owner.post(`${path}/test`, {}, '/account')
  t.true((await owner.get(path)).text.includes('No test was sent.'))
  await owner.post(`${path}/edit`, { ...tested, name: 'Renamed' }, '/account')
  t.true((await owner.get(path)).text.includes('Its recipient received a mail to confirm.'))
  const own = app.deps
    .db('integrations')
    .where({ uuid: path.split('/').at(-1) })
    .select('id')
  t.deepEqual(await app.deps.db('notifications').whereIn('integration_id', own), [])
  await mailedPath('untested@example.com')
})

test.serial('a new address must consent, and the old link becomes invalid', async (t) => {
  await setUp()
  const uuid = await create('first@example.com')
  const before = await mailedPath('first@example.com')
  await owner.post(`/integrations/${uuid}/edit`, fields('second@example.com'))
  const recipient = createVisitor(app.url)
  t.is((await recipient.send(before, {})).status, 404)
  const path = await mailedPath('second@example.com')
  await recipient.send(path, {})
  t.true(await isVerified(uuid))
  await owner.post(`/integrations/${uuid}/edit`, { ...fields('second@example.com'), name: 'Renamed' })
  t.true(await isVerified(uuid), 'the same address needs no further consent')
})

test.serial('the number of requests to a recipient is limited', async (t) => {
  await setUp()
  const uuid = await create('slow@example.com')
  const token = await owner.token('/account')
  const answers: number[] = []
  while (answers.at(-1) !== 429 && answers.length < 20) {
    answers.push((await owner.send(`/integrations/${uuid}/ask`, { _csrf: token })).status)
  }
  t.is(answers[0], 303)
  t.is(answers.at(-1), 429)
  await smtp.waitFor(2)
  smtp.mails.length = 0
})
