import type { Micros } from '../../time.ts'
import { nextHandoff } from './layer.ts'
import type { Layer, Rota } from './schedule.ts'
import { calendarOf, wallText } from './wall-time.ts'

/**
 * Returns the layers of a change that is effective from the next handoff: each changed layer ends there, and its new
 * version begins there with the next person first. Layers without a later handoff change at once.
 */
export function changedAtHandoff(before: Rota, after: readonly Layer[], now: Micros): Layer[] {
  const calendar = calendarOf(before)
  return after.flatMap((layer, index) => {
    const stored = before.layers[index]
    if (!stored || JSON.stringify(stored) === JSON.stringify(layer)) return [layer]
    const next = nextHandoff(stored, calendar, now)
    if (!next) return [layer]
    const start = wallText(next.wall)
    if (start <= stored.start || (stored.end !== null && start >= stored.end)) return [layer]
    const first = layer.people.indexOf(stored.people[next.index] ?? '')
    const people = [...layer.people.slice(Math.max(first, 0)), ...layer.people.slice(0, Math.max(first, 0))]
    return [
      { ...stored, end: start },
      { ...layer, start, people },
    ]
  })
}
