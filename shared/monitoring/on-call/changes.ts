import { without } from '../maintenance/spans.ts'
import type { WindowTime } from '../maintenance/window.ts'
import type { Shift } from './on-call.ts'

/** Differences between two versions of a schedule for one person. */
export interface PersonChange {
  person: string
  added: readonly WindowTime[]
  removed: readonly WindowTime[]
}

/** Lists the people whose time differs, in alphabetical order. */
export function changesOf(before: readonly Shift[], after: readonly Shift[]): PersonChange[] {
  const people = [...new Set([...before, ...after].map(({ person }) => person))].toSorted()
  return people
    .map((person) => {
      const [was, is] = [before, after].map((list) => timesOf(list, person)) as [WindowTime[], WindowTime[]]
      const added = is.flatMap((time) => without(time, was))
      const removed = was.flatMap((time) => without(time, is))
      return { person, added, removed }
    })
    .filter(({ added, removed }) => added.length > 0 || removed.length > 0)
}

function timesOf(list: readonly Shift[], person: string): WindowTime[] {
  return list.filter((shift) => shift.person === person).map(({ from, until }) => ({ from, until }))
}
