import test from 'ava'
import { DEFAULT_SETTINGS } from '#shared/monitoring/checks/settings.ts'
import { percentUp } from '../../../ingress/web/monitoring/checks/scale.ts'
import { snippets } from '../../../ingress/web/monitoring/checks/snippets.ts'

const url = 'https://x.test/ping/1'
const texts = (rules: Partial<typeof DEFAULT_SETTINGS>) =>
  new Map(snippets(url, '1@x.test', { ...DEFAULT_SETTINGS, ...rules }).map(({ id, text }) => [id, text]))

test('all snippets use POST if only POST counts', (t) => {
  const all = texts({ methods: 'POST' })
  t.regex(all.get('curl') ?? '', /-X POST/)
  t.is((all.get('cron') ?? '').match(/-X POST/g)?.length, 2)
  t.regex(all.get('python') ?? '', /data=b""/)
  t.regex(all.get('powershell') ?? '', /-Method Post/)
  t.regex(all.get('go') ?? '', /client\.Post/)
  t.notRegex(texts({}).get('curl') ?? '', /POST/)
})

test('snippets send the success keyword if bodies are searched', (t) => {
  const all = texts({ filterHttpBody: true, successKw: 'all done, ok' })
  for (const id of ['curl', 'python', 'node', 'powershell', 'go']) t.regex(all.get(id) ?? '', /all done/, id)
})

test('the cron snippet has the schedule of the check', (t) => {
  t.regex(texts({ kind: 'cron', schedule: '*/5 * * * *' }).get('cron') ?? '', /^\*\/5 \* \* \* \* {2}curl/m)
  t.regex(texts({ kind: 'oncalendar', schedule: 'Mon 03:00' }).get('cron') ?? '', /^15 3 \* \* \* {2}curl/m)
})

test('a mail snippet contains the keyword if subject or text is searched', (t) => {
  t.is(texts({ filterSubject: true, successKw: 'fine' }).get('email'), '1@x.test\nSubject: fine')
  t.is(texts({}).get('email'), '1@x.test')
})

test('uptime is a share of the known time and never rounds up over an outage', (t) => {
  const minute = 60_000_000
  // 28 minutes old, with 10 minutes and 14 seconds down
  t.is(percentUp({ until: 28 * minute, seconds: 614, count: 1 }, 0), '63.45 %')
  t.is(percentUp({ until: 1_000_000 * minute, seconds: 1, count: 1 }, 0), '99.99 %')
  t.is(percentUp({ until: minute, seconds: 0, count: 0 }, 0), '100 %')
})
