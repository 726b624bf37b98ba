import test from 'ava'
import { toCheckView } from '#shared/monitoring/checks/view.ts'
import { aCheck } from './factory.ts'

const T0 = Date.parse('2024-01-10T12:00:00Z') * 1000 + 999_999
const base = 'https://box.example'
const options = { base, version: 3, readOnly: false, now: T0 + 100_000_000, next: () => null } as const

const check = {
  ...aCheck({
    name: 'Nightly export',
    slug: 'nightly-export',
    tags: 'prod db',
    timeoutSeconds: 600,
    graceSeconds: 300,
    nPings: 2,
    status: 'up',
    lastPing: T0 + 100_000_000,
    lastDuration: 100_900_000,
  }),
  integrationIds: ['b', 'a'],
}

test('a read-write key sees all members of a simple check', (t) => {
  const url = `${base}/api/v3/checks/${check.uuid}`
  t.deepEqual(toCheckView(check, options), {
    name: 'Nightly export',
    slug: 'nightly-export',
    tags: 'prod db',
    desc: '',
    grace: 300,
    n_pings: 2,
    status: 'up',
    started: false,
    last_ping: '2024-01-10T12:01:40+00:00',
    next_ping: '2024-01-10T12:11:40+00:00',
    manual_resume: false,
    methods: '',
    subject: '',
    subject_fail: '',
    start_kw: '',
    success_kw: '',
    failure_kw: '',
    filter_subject: false,
    filter_body: false,
    filter_http_body: false,
    filter_default_fail: false,
    badge_url: `${base}/b/2/${check.badgeKey}.svg`,
    last_duration: 100,
    uuid: check.uuid,
    ping_url: `${base}/ping/${check.uuid}`,
    update_url: url,
    pause_url: `${url}/pause`,
    resume_url: `${url}/resume`,
    channels: 'a,b',
    timeout: 600,
  })
})

test('a read-only key sees the unique key and no uuid or URL', (t) => {
  const view = toCheckView(check, { ...options, readOnly: true })
  t.like(view, { unique_key: '124f983e0e3dcaeba921cfcef46efd084576e783' })
  t.false(JSON.stringify(view).includes(check.uuid))
  for (const name of ['uuid', 'ping_url', 'update_url', 'pause_url', 'resume_url', 'channels']) t.false(name in view)
})

test('a check with a schedule shows it and its zone instead of a timeout', (t) => {
  const view = toCheckView({ ...check, kind: 'cron', schedule: '* * * * *', tz: 'Europe/Riga' }, options)
  t.like(view, { schedule: '* * * * *', tz: 'Europe/Riga', next_ping: null })
  t.false('timeout' in view)
})

test('a duration of zero is omitted, and one below a second is 0', (t) => {
  t.false('last_duration' in toCheckView({ ...check, lastDuration: 0 }, options))
  t.like(toCheckView({ ...check, lastDuration: 400_000 }, options), { last_duration: 0 })
})

test('the deprecated subjects show the keywords while the subject filter is on', (t) => {
  const view = toCheckView({ ...check, filterSubject: true, successKw: 'OK', failureKw: 'NO' }, options)
  t.like(view, { subject: 'OK', subject_fail: 'NO' })
})

test('version 1 shows a running check as started; URLs have the version', (t) => {
  const running = { ...check, lastStart: T0 }
  t.like(toCheckView(running, { ...options, version: 1 }), {
    status: 'started',
    update_url: `${base}/api/v1/checks/${check.uuid}`,
  })
  t.like(toCheckView(running, { ...options, version: 2 }), { status: 'up', started: true })
})
