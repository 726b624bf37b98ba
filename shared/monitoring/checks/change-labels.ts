import { CHECK_FIELDS, type CheckSettings, entriesOf } from './fields.ts'

type LabelledCheck = CheckSettings & { integrationIds: readonly string[] }

/** The label of a changed name contains the previous name. */
export function changeLabels(before: LabelledCheck, after: LabelledCheck): string[] {
  const labels = entriesOf(CHECK_FIELDS)
    .filter(([name]) => before[name] !== after[name])
    .map(([name, { label }]) => (name === 'name' && before.name !== '' ? `name (was “${before.name}”)` : label))
  const notified = (check: LabelledCheck) => check.integrationIds.toSorted().join()
  return [...new Set(labels), ...(notified(before) === notified(after) ? [] : ['integrations'])]
}

export function settingLabel(name: string): string {
  const field = entriesOf(CHECK_FIELDS).find(([key]) => key === name)
  return field?.[1].label ?? name
}
