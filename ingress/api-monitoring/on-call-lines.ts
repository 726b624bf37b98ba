import { onCallAt } from '#shared/monitoring/on-call/on-call.ts'
import { coverageGaps } from '#shared/monitoring/on-call/warnings.ts'
import type { LoadedFacts } from '#shared/monitoring/operations/record-shifts.ts'
import { type Micros, microsOfSeconds, toSeconds } from '#shared/time.ts'
import { escapeLabel, head } from './prometheus.ts'

const SEARCHED: Micros = microsOfSeconds(30 * 86_400)

/** Returns the metrics of on-call schedules. Names are shown only for schedules with `show_names`. */
export function* onCallLines(schedules: readonly LoadedFacts[], now: Micros): Generator<string> {
  const current = schedules.map((facts) => ({ facts, person: onCallAt(facts, now).person }))
  const label = ({ schedule }: LoadedFacts) => `schedule="${escapeLabel(schedule.name)}"`
  yield head('signalbox_on_call_covered', '1 if a person is on call.')
  for (const { facts, person } of current)
    yield `signalbox_on_call_covered{${label(facts)}} ${person === null ? 0 : 1}\n`
  yield head('signalbox_on_call_next_gap_seconds', 'Time until the next coverage gap; absent without one in 30 days.')
  for (const { facts } of current) {
    const [gap] = coverageGaps(facts, now, now + SEARCHED)
    if (gap) yield `signalbox_on_call_next_gap_seconds{${label(facts)}} ${Math.floor(toSeconds(gap.from - now))}\n`
  }
  yield head('signalbox_on_call', '1 for the person who is on call.')
  for (const { facts, person } of current) {
    const name = person === null || !facts.schedule.show_names ? '' : (facts.people.get(person)?.name ?? '')
    if (name !== '') yield `signalbox_on_call{${label(facts)},person="${escapeLabel(name)}"} 1\n`
  }
}
