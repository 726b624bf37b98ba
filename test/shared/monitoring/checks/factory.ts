import type { Check } from '#shared/monitoring/checks/check.ts'
import { DEFAULT_SETTINGS } from '#shared/monitoring/checks/settings.ts'
import { BEGIN } from '#shared/monitoring/checks/state-machine.ts'

/** Returns a new check with the given changes. */
export function aCheck(changes: Partial<Check> = {}): Check {
  return {
    ...DEFAULT_SETTINGS,
    id: 1,
    projectId: 1,
    uuid: '803f680d-e89b-492b-82ef-2be7b774a92d',
    badgeKey: '0b3e0b1c-51b6-4a0e-9b0a-6f7f1c7a5b11',
    ...BEGIN,
    ...changes,
  }
}
