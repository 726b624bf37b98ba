import test from 'ava'
import { parseJsonBody } from '#shared/monitoring/checks/json-body.ts'
import { fromCronitor } from '#shared/monitoring/move-in/cronitor.ts'
import { fromCrontab, rewriteCrontab } from '#shared/monitoring/move-in/crontab.ts'
import { fromHealthchecks } from '#shared/monitoring/move-in/healthchecks.ts'
import { type Documented, mergeSettings } from '#shared/monitoring/move-in/merge.ts'
import { fromUptimeKuma, readKumaBackup } from '#shared/monitoring/move-in/uptime-kuma.ts'
import cronitor from '../../../vectors/move-in/cronitor.json' with { type: 'json' }
import crontab from '../../../vectors/move-in/crontab.json' with { type: 'json' }
import healthchecks from '../../../vectors/move-in/healthchecks.json' with { type: 'json' }
import versions from '../../../vectors/move-in/healthchecks-versions.json' with { type: 'json' }
import merges from '../../../vectors/move-in/merge.json' with { type: 'json' }
import kuma from '../../../vectors/move-in/uptime-kuma.json' with { type: 'json' }

/** Returns a value as the service receives it. */
function received(value: object) {
  const parsed = parseJsonBody(Buffer.from(JSON.stringify(value)))
  if (!parsed.ok) throw new Error(parsed.error)
  return parsed.body
}

test('a response of Healthchecks becomes checks, integrations and notes', (t) => {
  const { answers, expected, refused } = healthchecks
  const [checks, integrations, badges] = [answers.checks, answers.channels, answers.badges].map(received)
  if (!checks || !integrations || !badges) throw new Error('three answers')
  const imported = fromHealthchecks({ checks, channels: integrations, badges })
  t.is(imported.checks.length, expected.checks.length)
  for (const [index, check] of expected.checks.entries()) t.like(imported.checks[index], { ...check, uuid: check.key })
  t.deepEqual(imported.integrations, expected.integrations)
  t.deepEqual(
    imported.notTaken.map(({ subject }) => subject),
    expected.notTaken,
  )
  t.deepEqual(Object.values(imported.integrationToDo ?? {}), expected.toDo)
  for (const { checks: wrong, error } of refused) {
    t.throws(() => fromHealthchecks({ checks: received(wrong), channels: integrations, badges }), { message: error })
  }
})

for (const { version, check } of versions) {
  test(`a check from the API ${version} of Healthchecks keeps its uuid`, (t) => {
    const { checks } = fromHealthchecks({ checks: received({ checks: [check] }), channels: null, badges: null })
    const uuid = check.ping_url.slice(-36)
    t.like(checks, [{ key: uuid, uuid, pingUrl: check.ping_url }])
    t.like(checks[0]?.settings, { name: 'Nightly backup', tags: 'prod db', timeout: 86_400, grace: 3600 })
    t.is(checks[0]?.settings.success_kw, check.success_kw)
  })
}

test('a crontab becomes checks, and its commands ping them', (t) => {
  const { options, first, lines, uuid } = crontab
  const text = [first, ...lines.map(({ line }) => line)].join('\n')
  const { imported, jobs } = fromCrontab(text, options)
  const notTaken = new Map(imported.notTaken.map(({ subject, reason }) => [subject, reason]))
  const changed = rewriteCrontab(text, jobs, () => `${options.publicUrl}/ping/${uuid}`).text.split('\n')
  let next = 0
  for (const [index, expected] of lines.entries()) {
    const subject = `line ${index + 2}`
    t.is(notTaken.get(subject), expected.notTaken, expected.line)
    t.is(changed[index + 1], expected.after ?? expected.line)
    if (expected.name === undefined) continue
    const [check, job] = [imported.checks[next], jobs[next]]
    next += 1
    t.is(job?.line, index + 1, expected.line)
    t.is(job?.leave ?? undefined, expected.byHand, expected.line)
    const { name, schedule, slug } = expected
    t.like(check?.settings, { name, schedule, tags: 'web1', grace: 3600, ...(slug !== undefined && { slug }) })
  }
  t.is(imported.checks.length, next)
  t.is(imported.checks.at(-1)?.settings.tz, 'Europe/Berlin')

  const again = fromCrontab(changed.join('\n'), options)
  t.deepEqual(
    again.imported.checks.map(({ key }) => key),
    imported.checks.map(({ key }) => key),
    'a changed crontab has the same checks',
  )
  t.is(rewriteCrontab(changed.join('\n'), again.jobs, () => 'https://other.example').diff, '')
})

test('a system crontab has users and needs a known time zone', (t) => {
  const { options } = crontab
  const system = fromCrontab('0 3 * * * root /opt/a\r\n0 3 * * * www /opt/a\r\n', {
    ...options,
    tz: 'UTC',
    isSystem: true,
  })
  t.deepEqual(
    system.imported.checks.map(({ key }) => key),
    ['web1 root /opt/a', 'web1 www /opt/a'],
  )
  const { text, diff } = rewriteCrontab(
    '0 3 * * * root /opt/a\r\n',
    system.jobs.slice(0, 1),
    () => 'https://s.example/ping/x',
  )
  t.regex(text, /^0 3 \* \* \* root \/opt\/a; curl .*x\/\$\?\r\n$/)
  t.regex(diff, /^--- crontab\n\+\+\+ crontab\n@@ -1 \+1 @@\n-0 3/)
  t.throws(() => fromCrontab('0 3 * * * /opt/a', options), { message: /^tz must be given/ })
  t.throws(() => fromCrontab('', { ...options, tz: 'Mars/Base' }), { message: 'tz Mars/Base is not a valid timezone' })
})

test('a Cronitor export becomes checks, and the rest is listed', (t) => {
  for (const { title, text, checks, notTaken } of cronitor.files) {
    const imported = fromCronitor(text)
    t.is(imported.checks.length, checks.length, title)
    for (const [index, check] of checks.entries()) t.like(imported.checks[index], check, title)
    t.deepEqual(
      imported.notTaken.map(({ subject, reason }) => `${subject}: ${reason}`),
      notTaken,
    )
  }
  for (const { text, error } of cronitor.refused) t.throws(() => fromCronitor(text), { message: error })
  const bomb = `a: &a [x, x]\n${Array.from({ length: 40 }, (_, n) => `b${n}: &b${n} [${n ? `*b${n - 1}, *b${n - 1}` : '*a, *a'}]`).join('\n')}`
  t.throws(() => fromCronitor(bomb), { message: 'the file has too many aliases' })
})

test('push monitors of an Uptime Kuma backup become checks', (t) => {
  const monitors = readKumaBackup(Buffer.from(JSON.stringify(kuma.backup)))
  const { checks, notTaken } = fromUptimeKuma(monitors)
  t.is(checks.length, kuma.checks.length)
  for (const [index, check] of kuma.checks.entries()) t.like(checks[index], check)
  t.is(checks[3]?.pushToken, undefined)
  t.deepEqual(
    notTaken.map(({ subject, reason }) => `${subject}: ${reason}`),
    kuma.notTaken,
  )
  for (const text of ['', '{}', '{"monitorList": [1]}', '<html>']) {
    t.throws(() => readKumaBackup(Buffer.from(text)), { message: 'the file is not a backup of Uptime Kuma' })
  }
})

test('settings that changed in both places are a conflict', (t) => {
  for (const { case: name, base, theirs, ours, overwrite = false, wanted, ...expected } of merges) {
    const merged = mergeSettings({ base: base as Documented | null, theirs, ours }, overwrite) // JSON without undefined
    const { changes, kept, conflicts } = merged
    const names = { changes: Object.keys(changes), kept: Object.keys(kept), conflicts: Object.keys(conflicts) }
    t.deepEqual(names, expected, name)
    if (wanted) t.deepEqual(merged.wanted, wanted, name)
  }
})
