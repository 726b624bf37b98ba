import { microsOf } from '../../platform/database/instants.ts'
import type { CheckState } from './check.ts'
import { type FieldGroup, mapFields, SCHEDULE_FIELDS } from './fields.ts'
import type { CheckTimes } from './status.ts'

/** `table` is the name or alias of `checks` in the statement. */
export function settingColumns<Fields extends FieldGroup>(fields: Fields, table: string): Record<keyof Fields, string> {
  return mapFields(fields, ({ column }) => `${table}.${column}`)
}

export function timesColumns(table: string): Record<keyof CheckTimes, string> {
  return {
    ...settingColumns(SCHEDULE_FIELDS, table),
    earlySeconds: `${table}.early_seconds`,
    ...stateColumns(table),
  }
}

export function stateColumns(table: string): Record<keyof CheckState, string> {
  return {
    status: `${table}.status`,
    nPings: `${table}.n_pings`,
    lastPing: microsOf(`${table}.last_ping`),
    lastStart: microsOf(`${table}.last_start`),
    lastStartRid: `${table}.last_start_rid`,
    lastDuration: `${table}.last_duration_us`,
    alertAfter: microsOf(`${table}.alert_after`),
    deadlineExtendedAt: microsOf(`${table}.deadline_extended_at`),
    expectedFrom: microsOf(`${table}.expected_from`),
    ruleBits: `${table}.rule_bits`,
  }
}
