import test from 'ava'
import { changeLabels, settingLabel } from '#shared/monitoring/checks/change-labels.ts'
import { DEFAULT_SETTINGS } from '#shared/monitoring/checks/settings.ts'
import { parseCheckSpec } from '#shared/monitoring/checks/spec.ts'
import { toCheckView } from '#shared/monitoring/checks/view.ts'
import { toDocumentedCheck } from '#shared/monitoring/projects/config-document.ts'
import { aCheck } from './factory.ts'

/** docs/spec/monitoring.md#validation */
const ERROR_ORDER =
  'channels, desc, failure_kw, filter_subject, filter_body, filter_http_body, filter_default_fail, grace, manual_resume, methods, name, schedule, slug, start_kw, subject, subject_fail, success_kw, tags, timeout, tz, unique'

/** docs/spec/monitoring.md#check-object, with the members of a simple check for a read-write key */
const VIEW_ORDER =
  'name, slug, tags, desc, grace, n_pings, status, started, last_ping, next_ping, manual_resume, methods, subject, subject_fail, start_kw, success_kw, failure_kw, filter_subject, filter_body, filter_http_body, filter_default_fail, badge_url, uuid, ping_url, update_url, pause_url, resume_url, channels, timeout'

const DOCUMENT_ORDER =
  'uuid, name, slug, tags, desc, schedule, tz, grace, manual_resume, methods, start_kw, success_kw, failure_kw, filter_subject, filter_body, filter_http_body, filter_default_fail, channels'

test('reports invalid members in the published order', (t) => {
  const rules = { isValidSchedule: () => false, resolveTimeZone: () => null }
  const body = Object.fromEntries(ERROR_ORDER.split(', ').map((name) => [name, null]))
  const reported: string[] = []
  for (;;) {
    const result = parseCheckSpec(body, rules)
    if (result.ok) break
    const [, name = ''] = /^json validation error: (\w+) /.exec(result.error) ?? []
    reported.push(name)
    if (!(name in body)) break
    delete body[name]
  }
  t.is(reported.join(', '), ERROR_ORDER)
})

test('shows the members of a check in the published order', (t) => {
  const check = { ...aCheck(), integrationIds: [] }
  const options = { base: '', version: 3, readOnly: false, now: 0, next: () => null } as const
  t.is(Object.keys(toCheckView(check, options)).join(', '), VIEW_ORDER)
  t.is(Object.keys(toDocumentedCheck({ ...check, kind: 'cron' })).join(', '), DOCUMENT_ORDER)
})

test('gives a new check the defaults of the API contract', (t) => {
  const texts = { name: '', slug: '', tags: '', desc: '', schedule: '', startKw: '', successKw: '', failureKw: '' }
  const filters = { filterSubject: false, filterBody: false, filterHttpBody: false, filterDefaultFail: false }
  const times = { kind: 'simple', timeoutSeconds: 86_400, graceSeconds: 3600, tz: 'UTC' } as const
  t.deepEqual(DEFAULT_SETTINGS, { ...texts, ...filters, ...times, manualResume: false, methods: '' })
})

test('names each changed setting once, in the order of the form', (t) => {
  const before = { ...DEFAULT_SETTINGS, name: 'old', integrationIds: ['a', 'b'] }
  const changes = { filterBody: true, startKw: 'x', graceSeconds: 60, kind: 'cron', schedule: '* * * * *' } as const
  t.deepEqual(changeLabels(before, { ...before, ...changes, name: 'new', integrationIds: ['b'] }), [
    'name (was “old”)',
    'schedule',
    'grace time',
    'keywords',
    'integrations',
  ])
  t.deepEqual(changeLabels(before, { ...before, integrationIds: ['b', 'a'] }), [])
  t.deepEqual([settingLabel('timeoutSeconds'), settingLabel('channels')], ['period', 'channels'])
})
