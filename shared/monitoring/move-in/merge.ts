import { isDeepStrictEqual } from 'node:util'
import type { SettingChanges } from '../projects/config-document.ts'

/** Settings of a check as a configuration document contains them. */
export type Documented = Readonly<Record<string, unknown>>

export interface Merged {
  /** members to change, with their new values; null for a member that the check loses */
  wanted: Record<string, unknown>
  /** changed only in the source */
  changes: SettingChanges
  /** changed only here */
  kept: SettingChanges
  /** changed in both, or different when the check was never imported */
  conflicts: SettingChanges
}

/** They change together: a check has either a timeout, or a schedule with its zone. */
const SCHEDULE = ['timeout', 'schedule', 'tz']

/**
 * Compares three versions of a check member by member. Only members of the source are compared.
 * @param base the source at the last import; null if the check was never imported
 * @param overwrite takes the source where both sides changed a setting, instead of a conflict
 */
export function mergeSettings(
  { base, theirs, ours }: { base: Documented | null; theirs: Documented; ours: Documented },
  overwrite: boolean,
): Merged {
  const merged: Merged = { wanted: {}, changes: {}, kept: {}, conflicts: {} }
  for (const names of unitsOf(theirs)) {
    const [from, to] = [valueIn(ours, names), valueIn(theirs, names)]
    if (isDeepStrictEqual(from, to)) continue
    const name = names === SCHEDULE ? 'schedule' : (names[0] ?? '')
    const before = base && valueIn(base, names)
    const isChangedHere = base === null || !isDeepStrictEqual(before, from)
    const isChangedThere = base === null || !isDeepStrictEqual(before, to)
    if (isChangedHere && !isChangedThere) merged.kept[name] = { from, to }
    else if (isChangedHere && !overwrite) merged.conflicts[name] = { from, to }
    else {
      merged.changes[name] = { from, to }
      for (const member of names) if (theirs[member] !== undefined) merged.wanted[member] = theirs[member]
    }
  }
  return merged
}

function unitsOf(theirs: Documented): (readonly string[])[] {
  const others = Object.keys(theirs).filter((name) => !SCHEDULE.includes(name) && name !== 'uuid')
  return [...others.map((name) => [name]), ...(SCHEDULE.some((name) => theirs[name] !== undefined) ? [SCHEDULE] : [])]
}

function valueIn(settings: Documented, names: readonly string[]): unknown {
  if (names !== SCHEDULE) return settings[names[0] ?? '']
  return SCHEDULE.flatMap((name) => settings[name] ?? []).join(' ')
}
