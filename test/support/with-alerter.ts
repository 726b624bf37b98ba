/** A notifier sends what an alerter has decided: who asks for the one gets both. */
export function withAlerter(names: readonly string[]): string[] {
  return names.includes('notifier') && !names.includes('alerter') ? [...names, 'alerter'] : [...names]
}
