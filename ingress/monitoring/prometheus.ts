import type { Check, ShownStatus } from '#shared/checks/check.ts'
import { distinctTags, splitTags } from '#shared/checks/tags.ts'
import { uniqueKey } from '#shared/checks/unique-key.ts'

export interface MeasuredCheck {
  check: Pick<Check, 'name' | 'tags' | 'uuid' | 'lastStart'>
  status: ShownStatus
}

/** The state of a project's checks in Prometheus' text format (monitoring behaviour 5.11), checks in the given order. */
export function prometheusText(checks: readonly MeasuredCheck[]): string {
  const down = checks.filter(({ status }) => status === 'down')
  const downTags = new Set(distinctTags(down.map(({ check }) => check)))
  const lines = [
    ...gauge('hc_check_up', 'Whether the check is currently up (1 for yes, 0 for no).', (it) => it.status !== 'down'),
    ...gauge('hc_check_started', 'Whether the check is currently started.', (it) => it.check.lastStart !== null),
    ...gauge('hc_check_grace', 'Whether the check is currently in grace time.', (it) => it.status === 'grace'),
    ...gauge('hc_check_paused', 'Whether the check is currently paused.', (it) => it.status === 'paused'),
    ...head('hc_tag_up', 'Whether all checks with this tag are up (1 for yes, 0 for no).'),
    ...distinctTags(checks.map(({ check }) => check)).map(
      (tag) => `hc_tag_up{tag="${escapeLabel(tag)}"} ${downTags.has(tag) ? 0 : 1}`,
    ),
    ...head('hc_checks_total', 'The total number of checks.'),
    `hc_checks_total ${checks.length}`,
    ...head('hc_checks_down_total', 'The number of checks currently down.'),
    `hc_checks_down_total ${down.length}`,
  ]
  return `${lines.join('\n')}\n`

  function gauge(name: string, help: string, isOn: (measured: MeasuredCheck) => boolean): string[] {
    return [...head(name, help), ...checks.map((it) => `${name}{${labels(it)}} ${isOn(it) ? 1 : 0}`)]
  }
}

function head(name: string, help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`]
}

function labels({ check }: MeasuredCheck): string {
  const tags = splitTags(check.tags).join(' ')
  return `name="${escapeLabel(check.name)}", tags="${escapeLabel(tags)}", unique_key="${uniqueKey(check.uuid)}"`
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
