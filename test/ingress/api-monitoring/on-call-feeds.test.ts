import test from 'ava'
import { createPersonalFeed } from '#shared/monitoring/operations/calendar-feeds.ts'
import { deleteMembership } from '#shared/tenancy/accounts/store.ts'
import { toSeconds } from '#shared/time.ts'
import type { HttpProduct } from '../../support/product.ts'
import { send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { jsonOf, onCallTeam } from './on-call-team.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

const DAY = 86_400
const unix = (offset: number) => Math.floor(toSeconds(app.deps.now())) + offset

test('a calendar feed shows the shifts, keeps its bytes, and ends when it is revoked', async (t) => {
  const { call, layer } = await onCallTeam(app, { anna: 'member', ben: 'member' })
  const { id } = jsonOf(await call('POST', '/schedules/', { name: 'Primary, night', layers: [layer(['anna', 'ben'])] }))
  const made = await call('POST', `/schedules/${id}/feeds/`, { name: 'office' })
  t.is(made.status, 201, made.text)
  const { url, ...feed } = jsonOf(made)
  const path = new URL(url).pathname
  const first = await send(app.url, path, {})
  t.is(first.status, 200)
  t.regex(first.text, /SUMMARY:anna: Primary\\, night\r\n/)
  t.true(first.text.split('BEGIN:VEVENT').length > 26)
  const second = await send(app.url, path, {})
  t.is(second.text, first.text)
  t.is((await send(app.url, path, { headers: { 'If-None-Match': String(first.headers.etag) } })).status, 304)
  t.deepEqual(jsonOf(await call('GET', `/schedules/${id}/feeds/`)).feeds, [feed])
  t.is((await call('DELETE', `/feeds/${feed.id}`)).status, 200)
  t.is((await send(app.url, path, {})).status, 404)
  t.is((await send(app.url, `/cal/${'x'.repeat(43)}.ics`, {})).status, 404)
})

test('a schedule has at most 20 feeds, also for concurrent requests', async (t) => {
  const { call } = await onCallTeam(app, {})
  const { id } = jsonOf(await call('POST', '/schedules/', { name: 'Primary', layers: [] }))
  const made = await Promise.all(Array.from({ length: 25 }, () => call('POST', `/schedules/${id}/feeds/`, {})))
  t.is(made.filter(({ status }) => status === 201).length, 20)
  t.is(made.filter(({ status }) => status === 403).length, 5)
})

test('the feed of a person shows only their shifts and is empty after they left', async (t) => {
  const { call, layer, ids, project } = await onCallTeam(app, { anna: 'member', ben: 'member' })
  await call('POST', '/schedules/', { name: 'Primary', layers: [layer(['anna', 'ben'])] })
  const { organisationId } = project
  const userId = ids.anna ?? 0
  const actor = { kind: 'operator', name: 'test' } as const
  const input = { userId, secrets: app.deps.secrets }
  const former = await createPersonalFeed(app.db, actor, input)
  const { token } = await createPersonalFeed(app.db, actor, input)
  t.is((await send(app.url, `/cal/${former.token}.ics`, {})).status, 404, 'one feed per person')
  const { text } = await send(app.url, `/cal/${token}.ics`, {})
  t.regex(text, /SUMMARY:On call: Primary\r\n/)
  t.false(text.includes('ben'))
  await deleteMembership(app.db, organisationId, userId)
  t.false((await send(app.url, `/cal/${token}.ics`, {})).text.includes('VEVENT'))
})

test('metrics show coverage, the next gap, and names only with show_names', async (t) => {
  const { call, layer, roKey, project } = await onCallTeam(app, { anna: 'member' })
  const end = new Date(unix(DAY) * 1000).toISOString().slice(0, 16)
  const { id } = jsonOf(await call('POST', '/schedules/', { name: 'Primary', layers: [layer(['anna'], { end })] }))
  await call('POST', '/schedules/', { name: 'Empty', layers: [], coverage: 'none' })
  const metrics = async (query: string) =>
    (await send(app.url, `/projects/${project.uuid}/metrics/${roKey}${query}`, {})).text
  t.false((await metrics('')).includes('signalbox_on_call'))
  const text = await metrics('?on_call=1')
  t.regex(text, /^signalbox_on_call_covered\{schedule="Primary"\} 1$/m)
  t.regex(text, /^signalbox_on_call_covered\{schedule="Empty"\} 0$/m)
  t.regex(text, /^signalbox_on_call_next_gap_seconds\{schedule="Primary"\} 8\d{4}$/m)
  t.false(text.includes('next_gap_seconds{schedule="Empty"}'))
  t.false(text.includes('anna'))
  await call('POST', `/schedules/${id}`, { show_names: true })
  t.regex(await metrics('?on_call=1'), /^signalbox_on_call\{schedule="Primary",person="anna"\} 1$/m)
})
