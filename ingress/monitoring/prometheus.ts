import type { Check, ShownStatus } from '#shared/monitoring/checks/check.ts'
import { distinctTags, splitTags } from '#shared/monitoring/checks/tags.ts'
import { uniqueKey } from '#shared/monitoring/checks/unique-key.ts'

export interface MeasuredCheck {
  check: Pick<Check, 'name' | 'tags' | 'uuid' | 'lastStart'>
  status: ShownStatus
}

/** The state of a project's checks in Prometheus' text format (monitoring behaviour 5.11), line by line, checks in the given order. */
export function* prometheusLines(checks: readonly MeasuredCheck[]): Generator<string> {
  const down = checks.filter(({ status }) => status === 'down')
  const downTags = new Set(distinctTags(down.map(({ check }) => check)))
  yield* gauge('hc_check_up', 'Whether the check is currently up (1 for yes, 0 for no).', (it) => it.status !== 'down')
  yield* gauge('hc_check_started', 'Whether the check is currently started.', (it) => it.check.lastStart !== null)
  yield* gauge('hc_check_grace', 'Whether the check is currently in grace time.', (it) => it.status === 'grace')
  yield* gauge('hc_check_paused', 'Whether the check is currently paused.', (it) => it.status === 'paused')
  yield head('hc_tag_up', 'Whether all checks with this tag are up (1 for yes, 0 for no).')
  for (const tag of distinctTags(checks.map(({ check }) => check))) {
    yield `hc_tag_up{tag="${escapeLabel(tag)}"} ${downTags.has(tag) ? 0 : 1}\n`
  }
  yield head('hc_checks_total', 'The total number of checks.')
  yield `hc_checks_total ${checks.length}\n`
  yield head('hc_checks_down_total', 'The number of checks currently down.')
  yield `hc_checks_down_total ${down.length}\n`

  function* gauge(name: string, help: string, isOn: (measured: MeasuredCheck) => boolean): Generator<string> {
    yield head(name, help)
    for (const it of checks) yield `${name}{${labels(it)}} ${isOn(it) ? 1 : 0}\n`
  }
}

function head(name: string, help: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n`
}

function labels({ check }: MeasuredCheck): string {
  const tags = splitTags(check.tags).join(' ')
  return `name="${escapeLabel(check.name)}", tags="${escapeLabel(tags)}", unique_key="${uniqueKey(check.uuid)}"`
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
