import type { CheckSettings } from './settings.ts'

const WORDS: Readonly<Record<keyof CheckSettings, string>> = {
  name: 'name',
  slug: 'slug',
  tags: 'tags',
  desc: 'description',
  kind: 'schedule',
  schedule: 'schedule',
  timeoutSeconds: 'period',
  tz: 'time zone',
  graceSeconds: 'grace time',
  manualResume: 'how a pause ends',
  methods: 'methods that count',
  startKw: 'keywords',
  successKw: 'keywords',
  failureKw: 'keywords',
  filterSubject: 'keywords',
  filterBody: 'keywords',
  filterHttpBody: 'keywords',
  filterDefaultFail: 'keywords',
}

/** A check with the uuids of its integrations, in any order. */
type LabelledCheck = CheckSettings & { integrationIds: readonly string[] }

/** Which settings of a check are different now, each once, as forms call them; a changed name says the one before. */
export function changeLabels(before: LabelledCheck, after: LabelledCheck): string[] {
  // The keys of WORDS, which Object.keys forgets.
  const names = Object.keys(WORDS) as (keyof CheckSettings)[]
  const words = names
    .filter((name) => before[name] !== after[name])
    .map((name) => (name === 'name' && before.name !== '' ? `name (was “${before.name}”)` : WORDS[name]))
  const notified = (check: LabelledCheck) => check.integrationIds.toSorted().join()
  return [...new Set(words), ...(notified(before) === notified(after) ? [] : ['integrations'])]
}

/** What forms call a setting of a check; the name itself of anything else. */
export function settingLabel(name: string): string {
  return new Map<string, string>(Object.entries(WORDS)).get(name) ?? name
}
