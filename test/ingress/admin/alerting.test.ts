import { randomUUID } from 'node:crypto'
import test from 'ava'
import { commands } from '../../../ingress/admin/registry.ts'
import { runAdmin } from '../../../ingress/admin/run.ts'
import type { HttpProduct } from '../../support/product.ts'
import { jsonOf, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

interface Made {
  projectId: string
  apiKey: string
}

const admin = async (...args: string[]) => {
  const { config, db, secrets, log } = app.deps
  return await runAdmin(args, commands, async () => ({
    ...{ config, db, secrets, log, actor: 'tester' },
    [Symbol.asyncDispose]: async () => {},
  }))
}

/** Runs a command that must succeed, for its JSON. */
async function json<T>(...args: string[]): Promise<T> {
  const { status, stdout, stderr } = await admin(...args, '--json')
  if (status !== 0) throw new Error(`${status}: ${stderr}${stdout}`)
  return JSON.parse(stdout)
}

test('commands show, end and acknowledge policies, maintenance and incidents', async (t) => {
  const { projectId, apiKey } = await json<Made>('project', 'create', '--name', 'A')
  const own = ['--project', projectId]
  const post = async (path: string, body: object) => {
    const sent = await send(app.url, `/api/v3${path}`, {
      method: 'POST',
      headers: { 'X-Api-Key': apiKey },
      body: JSON.stringify(body),
    })
    return jsonOf(sent) as { id: string; uuid: string }
  }
  t.is((await admin('policy', 'list', ...own)).stdout.trim(), 'none')
  const plan = { name: 'On call', match: '*', steps: [{}], ack_timeout: 3600 }
  const policy = await post('/policies/', plan)
  t.regex((await admin('policy', 'list', ...own)).stdout, new RegExp(`^${policy.id}  On call  \\*  at once: `))
  t.deepEqual(await json<object>('policy', 'show', ...own, '--policy', policy.id), policy)

  const window = await post('/windows/', { name: 'Patch', match: '*', for: 3600 })
  t.regex((await admin('window', 'list', ...own)).stdout, /Patch/)
  const end = ['window', 'end', ...own, '--window', window.id]
  t.like(await json<object>(...end), { ended: true })
  t.like(await json<object>(...end), { ended: false }, 'what does not go on stays as it is')

  const check = await post('/checks/', { name: 'db-backup' })
  const { db } = app.deps
  const [row] = await db('checks').where({ uuid: check.uuid }).select('id', 'project_id')
  const id = randomUUID()
  const known = { check_id: row.id, project_id: row.project_id, severity: 'critical', is_direct: false }
  const { id: policyId } = await db('alert_policies').where({ uuid: policy.id }).first('id')
  const open = {
    state: 'alerting',
    down_at: db.fn.now(),
    alert_at: db.fn.now(),
    policy_id: policyId,
    flips: 1,
    failures: 1,
  }
  await db('incidents').insert({ id, ...known, ...open })
  t.regex((await admin('incident', 'list', ...own)).stdout, new RegExp(`^${id}  alerting .* db-backup$`, 'm'))
  const ack = ['incident', 'acknowledge', ...own, '--incident', id, '--note', 'on it']
  t.like(await json<object>(...ack), { state: 'acknowledged', ack: { by: 'operator tester', via: 'command' } })
  t.regex(
    (await admin('incident', 'show', ...own, '--incident', id)).stdout,
    /UTC {2}Acknowledged by operator tester: on it/,
  )
  const audited = db('audit_log').where({ action: 'incident.ack', target: 'db-backup' })
  t.is((await audited).length, 1)
  await db('incidents').where({ id }).update({ state: 'resolved', resolved_at: db.fn.now(), next_at: null })
  t.regex((await admin(...ack)).stderr, /incident is resolved/)
  t.is((await admin('incident', 'list', ...own)).stdout.trim(), 'none')
  t.is((await json<{ incidents: object[] }>('incident', 'list', ...own, '--all')).incidents.length, 1)
  const other = ['--project', (await json<Made>('project', 'create', '--name', 'B')).projectId]
  for (const [args, expected] of [
    [['policy', 'show', ...other, '--policy', policy.id], /the project has no policy/],
    [['window', 'end', ...other, '--window', window.id], /the project has no window/],
    [['incident', 'show', ...other, '--incident', id], /the project has no incident/],
    [['incident', 'acknowledge', ...own, '--incident', 'x'], /the project has no incident x/],
  ] as const)
    t.regex((await admin(...args)).stderr, expected)
})

test('schedules and the person on call are shown, in the form that the API accepts', async (t) => {
  const { projectId, apiKey } = await json<Made>('project', 'create', '--name', 'On call')
  const own = ['--project', projectId]
  const layer = { people: ['left@example.org'], start: '2026-01-05T09:00', rotation: { unit: 'week' } }
  const post = async (body: object, path = '') =>
    await send(app.url, `/api/v3/on-call/schedules/${path}`, {
      method: 'POST',
      headers: { 'X-Api-Key': apiKey },
      body: JSON.stringify(body),
    })
  await post({ name: 'Primary', tz: 'Europe/Riga', layers: [layer] })
  const { schedules } = await json<{ schedules: { id: string; name: string }[] }>('schedule', 'list', ...own)
  t.like(schedules, [{ name: 'Primary', tz: 'Europe/Riga', layers: 1 }])
  const shown = await json<object>('schedule', 'show', ...own, '--schedule', schedules[0]?.id ?? '')
  t.is((await post({ ...shown, name: 'Copy' })).status, 201)
  t.is((await admin('schedule', 'show', ...own, '--schedule', randomUUID())).status, 2)
  t.like(await json('on-call', 'list', ...own), { on_call: [{ name: 'Primary', person: null }, { name: 'Copy' }] })

  const named = [...own, '--schedule', schedules[0]?.id ?? '']
  const override = { person: null, start: '2099-12-24T18:00:00+00:00', end: '2099-12-25T18:00:00+00:00', note: 'party' }
  await post(override, `${schedules[0]?.id}/overrides/`)
  t.like(await json('schedule', 'export', ...own), {
    schedules: [
      { name: 'Primary', overrides: [{ ...override, replaces: null }] },
      { name: 'Copy', overrides: [] },
    ],
  })
  t.like(await json('on-call', 'show', ...named), { name: 'Primary', person: null, next: null })
  t.regex((await admin('on-call', 'show', ...named)).stdout, /^person +no person$/m)
  t.is((await admin('on-call', 'show', ...named, '--at', 'noon')).status, 2)
  t.is((await admin('on-call', 'show', ...named, '--at', '1999-01-01T00:00Z')).status, 2)
  t.is((await admin('schedule')).status, 2)
})
