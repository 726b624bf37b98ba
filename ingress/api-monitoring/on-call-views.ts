import type { Shift } from '#shared/monitoring/on-call/on-call.ts'
import type { StoredOverride } from '#shared/monitoring/on-call/override-store.ts'
import { scheduleView } from '#shared/monitoring/on-call/read-schedule.ts'
import { type ScheduleUse, warningsOf, warningView } from '#shared/monitoring/on-call/warnings.ts'
import type { LoadedFacts } from '#shared/monitoring/operations/record-shifts.ts'
import { type Micros, toIsoSeconds } from '#shared/time.ts'

type People = LoadedFacts['people']

export function personView(address: string, people: People) {
  return { name: people.get(address)?.name ?? '', address }
}

export function spanView({ from, until }: { from: Micros; until: Micros }) {
  return { from: toIsoSeconds(from), until: toIsoSeconds(until) }
}

export function shiftView({ person, source, ...span }: Shift, people: People) {
  return { person: personView(person, people), ...spanView(span), source }
}

export function storedScheduleView(facts: LoadedFacts, now: Micros, use: ScheduleUse) {
  const { uuid, projectUuid, version } = facts.schedule
  const warnings = warningsOf(facts, now, use).map(warningView)
  return { id: uuid, project: projectUuid, ...scheduleView(facts.schedule), version, warnings }
}

export function overrideView(override: StoredOverride, schedule: string) {
  const { uuid, number, person, replaces, start, end, note, createdBy } = override
  const times = { start: toIsoSeconds(start), end: toIsoSeconds(end) }
  return { id: uuid, schedule, number, person, replaces, ...times, note, by: createdBy }
}
