import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parser } from '@prometheus-io/lezer-promql'
import test from 'ava'
import { parse } from 'yaml'
import { z } from 'zod'
import { eventually } from '../support/eventually.ts'
import { root } from '../support/imports.ts'
import { sharedProduct } from './walkthrough.ts'

const folder = join(root, 'examples/monitoring')
const read = (name: string) => readFileSync(join(folder, name), 'utf8')

const rules = z
  .object({
    groups: z.array(
      z.object({
        rules: z.array(
          z.object({
            alert: z.string(),
            expr: z.string(),
            for: z.string().optional(),
            labels: z.object({ severity: z.enum(['page', 'warning']) }),
            annotations: z.object({ summary: z.string(), action: z.string() }),
          }),
        ),
      }),
    ),
  })
  .parse(parse(read('signalbox.rules.yml')))
  .groups.flatMap((group) => group.rules)
const panels = z
  .object({
    panels: z.array(
      z.object({ type: z.string(), title: z.string(), targets: z.array(z.object({ expr: z.string() })).default([]) }),
    ),
  })
  .parse(JSON.parse(read('dashboard.json'))).panels
const expressions = [
  ...rules.map(({ alert, expr }) => ({ of: alert, expr })),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ of: title, expr }))),
]

/** Labels that a scrape adds to every series, and a histogram to its own. */
const LABELS_OF_SCRAPES = ['instance', 'job', 'le']
/** Series that are there once something went wrong, or a cluster's management plugin is named. */
const AFTER_FAULTS = [
  ...['signalbox_pings_refused_total', 'signalbox_dead_letters_total', 'signalbox_event_loop_block_seconds'],
  ...['signalbox_broker_nodes', 'signalbox_queue_members_online', 'signalbox_gap_open', 'signalbox_log_refused'],
  ...['signalbox_notification_attempts_total', 'signalbox_webhook_attempts_total', 'signalbox_incidents_open'],
  'signalbox_dead_letter_messages',
]

/** The metrics and labels that an expression names, and whether it can be read at all. */
function namesIn(expr: string) {
  const text = expr.replaceAll('$__rate_interval', '5m')
  const metrics: string[] = []
  const labels: string[] = []
  let isBroken = false
  parser.parse(text).iterate({
    enter(node) {
      const source = text.slice(node.from, node.to)
      if (node.type.isError) isBroken = true
      if (node.name === 'Identifier' && node.node.parent?.name === 'VectorSelector') metrics.push(source)
      if (node.name === 'LabelName') labels.push(source)
    },
  })
  return { metrics, labels, isBroken }
}

test('every expression of the rules and of the dashboard can be read, and every alert has instructions', (t) => {
  t.deepEqual(
    expressions.filter(({ expr }) => namesIn(expr).isBroken || namesIn(expr).metrics.length === 0),
    [],
  )
  t.true(namesIn('sum(rate(signalbox_flips_total[5m])').isBroken, 'a missing bracket is seen')
  for (const { alert, annotations } of rules) t.true(annotations.action.length > 12, alert)
  const tested = new Set(read('rules.test.yml').match(/(?<=name: )Signalbox\w+ (fires|does not fire)/g))
  const wanted = rules.flatMap(({ alert }) => [`${alert} fires`, `${alert} does not fire`])
  t.deepEqual([...tested].sort(), wanted.sort())
  for (const { alert } of rules)
    t.true(readFileSync(join(root, 'docs/scale.md'), 'utf8').includes(`\`${alert}\``), alert)
})

test('every metric and label that rules and dashboard name exists in a scrape of the running product', async (t) => {
  const product = await sharedProduct()
  const project = await product.project()
  t.is((await fetch(`${product.url}/ping/${project.pingKey}/job?create=1`)).status, 201)
  t.is((await fetch(`${product.url}/api/v3/checks/`, { headers: { 'X-Api-Key': project.apiKey } })).status, 200)
  const registries = [product.deps.metrics.registry, product.worker.metrics.registry]
  const named = [...new Set(expressions.flatMap(({ expr }) => namesIn(expr).metrics))]
  const familyOf = (name: string) => {
    const names = [name, name.replace(/_(bucket|count|sum)$/, '')]
    return names.find((each) => registries.some((registry) => registry.getSingleMetric(each)))
  }
  t.deepEqual(
    named.filter((name) => familyOf(name) === undefined),
    [],
    'metrics that no process exports',
  )
  t.is(familyOf('signalbox_pings_total'), undefined, 'one that is not there is seen')

  let mute = named
  await eventually('every metric to have a value', async () => {
    const lines = (await Promise.all(registries.map((registry) => registry.metrics()))).join('\n').split('\n')
    const exported = (name: string) => lines.some((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    mute = named.filter((name) => !exported(name) && !AFTER_FAULTS.includes(familyOf(name) ?? ''))
    return mute.length === 0
  }).catch(() => {})
  t.deepEqual(mute, [], 'metrics that are declared and never set')

  for (const { of, expr } of expressions) {
    const { metrics, labels } = namesIn(expr)
    const known = metrics.flatMap((name) =>
      registries.flatMap((registry) => labelsOf(registry.getSingleMetric(familyOf(name) ?? ''))),
    )
    t.deepEqual(
      labels.filter((label) => ![...known, ...LABELS_OF_SCRAPES].includes(label)),
      [],
      of,
    )
  }
})

test('promtool finds the rules, their unit tests and the configuration well, where it is installed', (t) => {
  const promtool = process.env.PROMTOOL ?? 'promtool'
  const run = (...args: string[]) => execFileSync(promtool, args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' })
  try {
    run('--version')
  } catch {
    t.falsy(process.env.PROMTOOL, 'the promtool that is named is not there')
    return
  }
  t.regex(run('check', 'rules', 'signalbox.rules.yml'), /SUCCESS: \d+ rules found/)
  t.notThrows(() => run('check', 'config', 'prometheus.yml'))
  t.regex(run('test', 'rules', 'rules.test.yml'), /SUCCESS/)
})

function labelsOf(metric: unknown): string[] {
  const has = z.object({ labelNames: z.array(z.string()) }).safeParse(metric)
  return has.success ? has.data.labelNames : []
}
