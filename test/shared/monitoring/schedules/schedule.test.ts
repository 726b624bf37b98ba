import { readFileSync } from 'node:fs'
import test from 'ava'
import { z } from 'zod'
import { guessKind, isValidSchedule, nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { type Micros, toIsoSeconds } from '#shared/time.ts'

const Occurrences = z.object({
  kind: z.enum(['cron', 'oncalendar']),
  expression: z.string(),
  tz: z.string(),
  from: z.string(),
  next: z.array(z.string()),
  nextStrict: z.array(z.string()).optional(),
  note: z.string().optional(),
})
const Invalid = z.object({ kind: z.enum(['cron', 'oncalendar']), expression: z.string(), valid: z.literal(false) })

const file = new URL('../../../vectors/schedules.json', import.meta.url)
const vectors = z.array(z.union([Invalid, Occurrences])).parse(JSON.parse(readFileSync(file, 'utf8')))

function micros(iso: string): Micros {
  const fraction = /\.(\d+)/.exec(iso)?.[1] ?? ''
  return Date.parse(iso.replace(/\.\d+/, '')) * 1000 + Number(fraction.padEnd(6, '0'))
}

for (const [index, vector] of vectors.entries()) {
  const name = `${vector.kind} ${JSON.stringify(vector.expression)}`
  if ('valid' in vector) {
    test(`vector ${index}: ${name} is refused`, (t) => {
      t.is(guessKind(vector.expression), vector.kind)
      t.false(isValidSchedule(vector.expression))
    })
    continue
  }
  const { kind, expression, tz, from, note } = vector
  test(`vector ${index}: ${name} in ${tz} from ${from}${note ? ` (${note})` : ''}`, (t) => {
    t.is(guessKind(expression), kind)
    t.true(isValidSchedule(expression, tz))
    let after = micros(from)
    // If the reference returns an instant not after the start, nextStrict has the correct result.
    for (const expected of vector.nextStrict ?? vector.next) {
      const found = nextOccurrence(kind, expression, tz, after)
      t.is(found && toIsoSeconds(found), toIsoSeconds(micros(expected)))
      after = micros(expected)
    }
    if (vector.next.length === 0) t.is(nextOccurrence(kind, expression, tz, after), null)
  })
}

test('steps from the end of the month begin at the larger day', (t) => {
  let after = micros('2024-01-01T00:00:00+00:00')
  for (const expected of ['2024-01-05', '2024-01-14', '2024-02-03', '2024-02-12']) {
    const found = nextOccurrence('oncalendar', '*-*~14..27/9', 'UTC', after)
    t.is(found && toIsoSeconds(found).slice(0, 10), expected)
    after = found ?? after
  }
})
