import type { Check, ShownStatus } from '#shared/monitoring/checks/check.ts'
import { uniqueKey } from '#shared/monitoring/checks/slug.ts'
import { distinctTags, splitTags } from '#shared/monitoring/checks/tags.ts'
import { BUCKETS } from '#shared/monitoring/rules/run.ts'
import type { RunHistogram } from '#shared/monitoring/rules/run-store.ts'

export interface MeasuredCheck {
  check: Pick<Check, 'name' | 'tags' | 'uuid' | 'lastStart'>
  status: ShownStatus
}

/** The state of a project's checks in Prometheus' text format (docs/spec/monitoring.md#other-endpoints), line by line, checks in the given order. */
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

/** Returns run times and missed runs of checks whose rules watch them. */
export function* runLines(histograms: readonly RunHistogram[]): Generator<string> {
  const seconds = 'signalbox_check_run_seconds'
  yield head(seconds, 'How long the runs of the check took.', 'histogram')
  for (const check of histograms) {
    let below = 0
    for (const [index, border] of BUCKETS.entries()) {
      below += check.buckets[index] ?? 0
      yield `${seconds}_bucket{${labels({ check })}, le="${border}"} ${below}\n`
    }
    yield `${seconds}_bucket{${labels({ check })}, le="+Inf"} ${check.measured}\n`
    yield `${seconds}_sum{${labels({ check })}} ${check.seconds}\n`
    yield `${seconds}_count{${labels({ check })}} ${check.measured}\n`
  }
  const missed = 'signalbox_check_missed_total'
  yield head(missed, 'Occurrences of the schedule of the check that passed without a run.', 'counter')
  for (const check of histograms) yield `${missed}{${labels({ check })}} ${check.missed}\n`
}

export function head(name: string, help: string, type = 'gauge'): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
}

function labels({ check }: { check: Pick<Check, 'name' | 'tags' | 'uuid'> }): string {
  const tags = splitTags(check.tags).join(' ')
  return `name="${escapeLabel(check.name)}", tags="${escapeLabel(tags)}", unique_key="${uniqueKey(check.uuid)}"`
}

export function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
