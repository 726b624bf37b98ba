import { readFileSync } from 'node:fs'
import test from 'ava'
import { z } from 'zod'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { isZoneName, resolveTimeZone } from '#shared/monitoring/schedules/time-zones.ts'

const file = new URL('../../../vectors/timezones.json', import.meta.url)
const vectors = z
  .object({ accepted: z.array(z.string()), aliases: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(file, 'utf8')))

const startOf2026 = Date.UTC(2026, 0, 1) * 1000

test('every accepted zone keeps its name and has rules', (t) => {
  for (const name of vectors.accepted) {
    t.is(resolveTimeZone(name), name)
    t.not(nextOccurrence('cron', '0 12 * * *', name, startOf2026), null, name)
  }
})

test('every old zone name resolves to its current name', (t) => {
  for (const [name, present] of Object.entries(vectors.aliases)) t.is(resolveTimeZone(name), present, name)
})

test('accepts zones that are newer than the published list', (t) => {
  t.is(resolveTimeZone('America/Coyhaique'), 'America/Coyhaique')
})

for (const name of [
  '',
  ' UTC',
  'UTC\0',
  'utc',
  'Utc',
  'europe/riga',
  'EUROPE/RIGA',
  'Europe/Surprise',
  'PST',
  'IST',
  '+02:00',
  'UTC+2',
  'Factory',
  'localtime',
  'posixrules',
  'right/UTC',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  'Europe/Riga'.repeat(10_000),
]) {
  test(`${JSON.stringify(name.slice(0, 40))} is not a zone`, (t) => {
    t.is(resolveTimeZone(name), null)
    t.false(isZoneName(name))
  })
}

test('accepts old zone names in OnCalendar lines', (t) => {
  for (const name of [...Object.keys(vectors.aliases), 'America/Coyhaique']) t.true(isZoneName(name), name)
})
