import { randomUUID } from 'node:crypto'
import test from 'ava'
import { replaceContactRules, saveOnCallSettings } from '#shared/monitoring/contacts/rule-store.ts'
import { claimNotice } from '#shared/monitoring/on-call/notice-store.ts'
import { addContactMethod } from '#shared/monitoring/operations/contacts.ts'
import { recordDueShifts } from '#shared/monitoring/operations/record-shifts.ts'
import { updateSchedule } from '#shared/monitoring/operations/schedules.ts'
import { type Micros, microsOfSeconds, toDate, toIsoSeconds } from '#shared/time.ts'
import type { WorkerDeps } from '../../../workers/define-worker.ts'
import { sendShiftNotices } from '../../../workers/sweeper/shift-notices.ts'
import { jsonOf, onCallTeam } from '../../ingress/api-monitoring/on-call-team.ts'
import { addChat } from '../../support/alerts.ts'
import { eventually } from '../../support/eventually.ts'
import { type HttpSink, openHttpSink } from '../../support/http-sink.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { addCheck } from '../../support/projects.ts'
import { openSmtpSink, type SmtpSink } from '../../support/smtp-sink.ts'

const HOUR = 3600
const DAY = 86_400
const OPERATOR = { kind: 'operator', name: 'test' } as const

let app: HttpProduct
let deps: WorkerDeps
let smtp: SmtpSink
let sink: HttpSink

test.before(async () => {
  smtp = await openSmtpSink()
  sink = await openHttpSink()
  app = await openProduct({ listener: 'http', env: { SMTP_URL: smtp.url } })
  deps = await app.workers(['notifier', 'mailer'])
})
test.serial.beforeEach(async () => {
  await app.db('schedules').delete()
  sink.requests.length = 0
  smtp.mails.length = 0
})
test.after.always(async () => {
  await app?.[Symbol.asyncDispose]()
  await smtp?.[Symbol.asyncDispose]()
  await sink?.[Symbol.asyncDispose]()
})

const later = (seconds: number): Micros => app.deps.now() + microsOfSeconds(seconds)

/** Runs the sweep as two processes would. */
async function sweep(now = app.deps.now()): Promise<void> {
  await recordDueShifts(app.db, now)
  await Promise.all([sendShiftNotices(deps, now), sendShiftNotices(deps, now)])
}

/** A verified method, whose messages the sink receives. */
async function addPush(userId: number): Promise<void> {
  const config = { url: sink.url, token: 'token' }
  const input = { userId, kind: 'gotify', name: '', config, via: null, recoveries: null, isVerified: true }
  const method = await addContactMethod(app.db, OPERATOR, input, app.deps)
  await replaceContactRules(app.db, userId, { critical: [], other: [{ after: 0, method }] })
}

async function noticesOf(userId: number | undefined) {
  return await app.db('personal_notices').where({ user_id: userId }).orderBy('created_at')
}

test.serial('a shift is announced once to its person, with open incidents, and once to the integrations', async (t) => {
  const { call, layer, ids, project } = await onCallTeam(app, { anna: 'member' })
  await addPush(ids.anna ?? 0)
  const chat = await addChat(app.deps, project.id, `${sink.url}/chat`)
  const layers = [layer(['anna'])]
  const { id } = jsonOf(
    await call('POST', '/schedules/', { name: 'Primary', layers, notices: { channels: chat.uuid } }),
  )
  const plan = JSON.stringify({ steps: [{ wait: 0, people: [{ schedule: id }] }] })
  const [policy] = await app.db('alert_policies').insert({ project_id: project.id, name: 'p', plan }).returning('id')
  const open = { project_id: project.id, is_direct: false, severity: 'critical', down_at: new Date() }
  const incident = async (name: string, state: string, more: object) => {
    const check = await addCheck(app.deps, project.id, { name })
    await app.db('incidents').insert({ id: randomUUID(), check_id: check.id, ...open, state, ...more })
  }
  await incident('db', 'alerting', { policy_id: policy?.id })
  await incident('api', 'acknowledged', { policy_id: policy?.id, ack_by: 'Ben' })
  await incident('other', 'alerting', {})

  await sweep()
  await sink.waitFor(2)
  const push =
    sink.requests
      .find(({ path }) => path !== '/chat')
      ?.body.toString()
      .replaceAll('\\', '') ?? ''
  t.regex(push, /Open incidents: db \(not acknowledged\), api \(acknowledged by Ben\)\./)
  t.false(push.includes('other'))
  const message = sink.requests.find(({ path }) => path === '/chat')?.body.toString() ?? ''
  t.regex(message, /anna is on call for Primary\./)
  await eventually('the notice to end', async () => (await noticesOf(ids.anna))[0]?.state === 'done')
  await sweep(later(60))
  t.is((await noticesOf(ids.anna)).length, 1)
  t.is((await app.db('notifications').where({ integration_id: chat.id })).length, 1)
})

test.serial('each notice is created once, also after a pause of the sweeper', async (t) => {
  const { call, layer, ids, address } = await onCallTeam(app, { anna: 'member', ben: 'member' })
  await saveOnCallSettings(app.db, ids.anna ?? 0, { quiet: [], notices: { before: [], start: true, end: true } })
  const { id } = jsonOf(await call('POST', '/schedules/', { name: 'Primary', layers: [layer(['anna'])] }))
  const [start, end] = [later(2 * DAY), later(3 * DAY)].map(toIsoSeconds)
  await call('POST', `/schedules/${id}/overrides/`, { person: address('ben'), start, end })
  await app.db('shift_changes').delete()
  const keysOf = async (name: string) => (await noticesOf(ids[name])).map(({ key }) => key.split(' ')[0])
  await sweep()
  await sweep(later(DAY - HOUR))
  t.deepEqual([await keysOf('anna'), await keysOf('ben')], [['start'], []])
  await sweep(later(DAY + 60))
  t.deepEqual(await keysOf('ben'), ['before'])
  await sweep(later(2 * DAY + HOUR))
  await sweep(later(2 * DAY + HOUR + 30))
  t.deepEqual(
    [await keysOf('anna'), await keysOf('ben')],
    [
      ['start', 'end'],
      ['before', 'start'],
    ],
  )
  await saveOnCallSettings(app.db, ids.ben ?? 0, { quiet: [], notices: { before: [], start: true, end: true } })
  await sweep(later(3 * DAY + HOUR))
  t.deepEqual(
    [await keysOf('anna'), await keysOf('ben')],
    [
      ['start', 'end', 'start'],
      ['before', 'start', 'end'],
    ],
  )
})

test.serial(
  'the other party of a swap is notified by its rules, before a near start despite quiet hours',
  async (t) => {
    const { call, layer, ids, address } = await onCallTeam(app, { anna: 'member', ben: 'member' })
    await addPush(ids.anna ?? 0)
    const hour = toDate(app.deps.now()).getUTCHours()
    const quiet = [{ every: `0 ${hour} * * *`, for: 2 * HOUR, tz: 'UTC' }]
    await saveOnCallSettings(app.db, ids.anna ?? 0, { quiet, notices: { before: [], start: false, end: false } })
    const { id } = jsonOf(await call('POST', '/schedules/', { name: 'Primary', layers: [layer(['anna'])] }))
    await app.db('shift_changes').delete()
    const swap = async (from: number) => {
      const [start, end] = [later(from), later(from + HOUR)].map(toIsoSeconds)
      const made = jsonOf(await call('POST', `/schedules/${id}/swaps/`, { from: address('anna'), start, end }))
      await call('POST', `/swaps/${made.id}/take`, { person: address('ben') })
      await sendShiftNotices(deps, app.deps.now())
      return made.id
    }
    const far = await swap(2 * DAY)
    const [delayed] = await noticesOf(ids.anna)
    t.regex(delayed?.text, /^ben replaces anna from .*\. Times in UTC\.$/)
    t.is(delayed?.due_at.getUTCHours(), (hour + 2) % 24)
    await call('POST', `/swaps/${far}/release`)
    t.deepEqual(
      (await noticesOf(ids.anna)).map(({ title }) => title),
      ['Swap released: Primary'],
      'replaces the notice that was not sent',
    )
    sink.enqueue({ status: 503 })
    await swap(2 * HOUR)
    t.regex((await sink.waitFor(1)).body.toString(), /Swap taken: Primary/)
    const notice = () => app.db('personal_notices').where({ user_id: ids.anna, ignores_quiet: true })
    await eventually('the notice to wait', async () => (await notice())[0]?.queued_until === null)
    await notice().update({ due_at: toDate(later(-1)) })
    await sendShiftNotices(deps, app.deps.now())
    await sink.waitFor(2)
    await eventually('the notice to end', async () => (await notice())[0]?.state === 'done')
    t.is(await claimNotice(app.db, (await notice())[0]?.id), null, 'a duplicate message sends nothing')
    t.is((await app.db('shift_changes')).length, 0, 'no mail beside the notice')
  },
)

test.serial('people whose shifts others edit get one mail ten minutes after the last edit', async (t) => {
  const { call, layer, ids, address, project } = await onCallTeam(app, { anna: 'member', ben: 'member' })
  const { id } = jsonOf(await call('POST', '/schedules/', { name: 'Primary', layers: [layer(['anna'])] }))
  await app.db('shift_changes').delete()
  const edit = async (people: string[]) => {
    t.is((await call('POST', `/schedules/${id}`, { layers: [layer(people)] })).status, 200)
  }
  await edit(['ben'])
  await edit(['anna'])
  await sendShiftNotices(deps, later(660))
  t.is((await app.db('outgoing_mails')).length + smtp.mails.length, 0, 'the shifts are as before')

  await edit(['ben'])
  await sendShiftNotices(deps, later(540))
  t.is((await app.db('shift_changes')).length, 2)
  await sendShiftNotices(deps, later(660))
  await smtp.waitFor(2)
  const mailTo = (name: string) => smtp.mails.find(({ to }) => to.includes(address(name)))?.raw.toString() ?? ''
  t.regex(mailTo('anna'), /You are no longer on call/)
  t.regex(mailTo('ben'), /You are now on call/)
  await sendShiftNotices(deps, later(1200))

  const body = Object.assign(Object.create(null), { layers: [layer(['anna'])] })
  const ben = { kind: 'person', userId: ids.ben ?? 0, email: address('ben'), address: '' } as const
  await updateSchedule(app.db, ben, { project, uuid: id, body, now: app.deps.now() })
  t.deepEqual(
    (await app.db('shift_changes')).map(({ user_id }) => Number(user_id)),
    [ids.anna],
    'own edits send none',
  )

  t.is((await call('DELETE', `/schedules/${id}`)).status, 200)
  const last = await smtp.waitFor(3)
  t.deepEqual(last.to, [address('anna')])
  t.regex(last.raw.toString(), /The schedule was deleted/)
})

test.serial(
  'owners and managers get one mail about a coverage gap a week before it, and one a day before',
  async (t) => {
    const { call, layer, address } = await onCallTeam(app, { anna: 'member', olga: 'owner', mia: 'manager' })
    const layers = [layer(['anna'], { end: toIsoSeconds(later(3 * DAY)).slice(0, 16) })]
    await call('POST', '/schedules/', { name: 'Primary', layers })
    await call('POST', '/schedules/', { name: 'Silent', layers, notices: { gaps: false } })
    await app.db('shift_changes').delete()
    const sent = () => app.db('report_mails').where({ kind: 'gap' })
    await sweep()
    const mail = await smtp.waitFor(({ to }) => to.includes(address('mia')))
    t.regex(mail.raw.toString(), /No person will be on call for Primary/)
    await sweep(later(60))
    t.is((await sent()).length, 2)
    await sweep(later(2 * DAY + HOUR))
    await smtp.waitFor(4)
    await sweep(later(4 * DAY))
    t.is((await sent()).length, 4)
  },
)
