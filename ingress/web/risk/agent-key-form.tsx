import type { FieldError } from '#shared/errors.ts'
import { SPENT_BY_TOOLS, type SpentFamily } from '#shared/tenancy/agents/agent-key.ts'
import { MAX_DAYS } from '#shared/tenancy/operations/agent-keys.ts'
import { type FormItem, type FormValues, fieldsOf } from '../forms/fields.tsx'
import { FieldForm } from '../forms/form.tsx'
import { type Context, field } from '../shell/context.ts'
import { familyName } from './family-names.ts'
import { scopeName } from './scope-names.ts'

export interface KeyFormView {
  /** scopes that a new key may have */
  scopes: readonly string[]
  projects: readonly { uuid: string; name: string }[]
  /** families that the organisation is entitled to and that have metered tools */
  families: readonly SpentFamily[]
  errors: readonly FieldError[]
  /** values of an invalid form, shown again; otherwise empty */
  submitted: URLSearchParams
}

/** Scopes of tools that only read and cost no units: the default of a new key. */
const DEFAULT_SCOPES = ['risk-signals:read', 'acceptance:read', 'trade:read', 'usage:read']
/** The other scopes of tools. A test compares both lists with the tools. */
const FURTHER_SCOPES = ['risk-signals:run', 'kyb:read', 'first-financing:check', 'first-financing:register']
const EVIDENCE_SCOPES = [...DEFAULT_SCOPES, ...FURTHER_SCOPES]

const DEFAULT_DAYS = '365'

/** Names of the fields with scopes. */
const SCOPE_FIELDS = ['scope', 'monitoring', 'other'] as const

const MAX_COUNT = 1_000_000_000

/** Fields with numbers, with their bounds. */
const COUNTS = new Map([
  ['dailyLimit', { least: 0, most: MAX_COUNT }],
  ...SPENT_BY_TOOLS.flatMap((family) =>
    ['perDay', 'perMonth'].map((period) => [`${family}.${period}`, { least: 0, most: MAX_COUNT }] as const),
  ),
  ['days', { least: 1, most: MAX_DAYS }],
])

/** Returns the scopes of the form. Projects count only with a monitoring scope. */
export function readAccess(form: URLSearchParams): { scopes: string[]; projects: string[] } {
  const scopes = SCOPE_FIELDS.flatMap((name) => form.getAll(name))
  const hasMonitoring = scopes.some((scope) => scope.startsWith('monitoring:'))
  return { scopes: ['agents:invoke', ...scopes], projects: hasMonitoring ? form.getAll('project') : [] }
}

export function countOf(form: URLSearchParams, name: string): number | null {
  const text = field(form, name)
  return text === '' ? null : Number(text)
}

export function wrongFields(form: URLSearchParams): FieldError[] {
  const name = field(form, 'name')
  const errors: FieldError[] = []
  if (name === '' || name.length > 200 || /\p{C}/u.test(name)) {
    errors.push({ path: 'name', code: 'FORMAT', message: 'Must be a line of 1 to 200 characters.' })
  }
  for (const [path, { least, most }] of COUNTS) {
    const count = countOf(form, path)
    if (count === null || (Number.isInteger(count) && count >= least && count <= most)) continue
    const message = `Must be a whole number from ${least} to ${most.toLocaleString('en')}.`
    errors.push({ path, code: 'FORMAT', message })
  }
  return errors
}

/** Fields of the form by the members of a request. */
const FIELDS: Readonly<Record<string, string>> = { scopes: 'scope', projects: 'project', expiresAt: 'days' }

function errorsByField(errors: readonly FieldError[]): Map<string, string> {
  return new Map(
    errors.map(({ path, code, message }) => [
      FIELDS[path] ?? path,
      path === 'projects' && code === 'REQUIRED' ? 'Select at least one project for the chosen scopes.' : message,
    ]),
  )
}

export function KeyForm({ context, action, view }: { context: Context; action: string; view: KeyFormView }) {
  const items = keyItems(view)
  return (
    <section class="card form-wide" id="new-key" aria-labelledby="new-key-title">
      <h2 id="new-key-title">New key</h2>
      <FieldForm
        context={context}
        action={action}
        submit="Create key"
        isMain
        items={items}
        values={valuesOf(view, items)}
        errors={errorsByField(view.errors)}
      />
    </section>
  )
}

function valuesOf({ scopes, projects, submitted }: KeyFormView, items: readonly FormItem[]): FormValues {
  if (submitted.size > 0) {
    return Object.fromEntries(fieldsOf(items).map(({ name }) => [name, submitted.getAll(name)]))
  }
  return {
    scope: DEFAULT_SCOPES.filter((scope) => scopes.includes(scope)),
    project: projects.length === 1 ? projects.map(({ uuid }) => uuid) : [],
    days: DEFAULT_DAYS,
  }
}

function keyItems({ scopes, projects, families }: KeyFormView): FormItem[] {
  const isMonitoring = (scope: string) => scope.startsWith('monitoring:')
  const evidence = EVIDENCE_SCOPES.filter((scope) => scopes.includes(scope))
  const others = scopes.filter((scope) => !isMonitoring(scope) && !EVIDENCE_SCOPES.includes(scope))
  const parts: (FormItem | false)[] = [
    {
      name: 'name',
      label: 'Name',
      placeholder: 'Assistant',
      hint: 'The list of calls shows it.',
      isRequired: true,
      maxLength: 200,
    },
    evidence.length > 0 && {
      name: 'scope',
      label: 'What the agent may do',
      hint: 'Every key may also check GSTINs and verify anchors.',
      kind: 'choices',
      options: evidence.map(scopeOption),
    },
    projects.length > 0 && {
      summary: 'Checks and incidents',
      items: [
        {
          name: 'monitoring',
          label: 'Access to monitoring',
          kind: 'choices',
          options: scopes.filter(isMonitoring).map(scopeOption),
        },
        {
          name: 'project',
          label: 'Projects',
          hint: 'The key reaches the checks of these projects only.',
          kind: 'choices',
          options: projects.map(({ uuid, name }) => ({ value: uuid, label: name })),
        },
      ],
    },
    { summary: 'Limits and expiry', items: limitItems(families) },
    others.length > 0 && {
      summary: 'Scopes without tools',
      items: [
        {
          name: 'other',
          label: 'Scopes for later',
          hint: 'No tool needs these scopes yet. Select them for tools that are added later.',
          kind: 'choices',
          options: others.map(scopeOption),
        },
      ],
    },
  ]
  return parts.filter((part) => part !== false)
}

function limitItems(families: readonly SpentFamily[]): FormItem[] {
  return [
    {
      class: 'pair',
      items: [
        { name: 'days', label: 'Valid for (days)', kind: 'integer', hint: `At most ${MAX_DAYS.toLocaleString('en')}.` },
        { name: 'dailyLimit', label: 'Calls per day', kind: 'integer', hint: 'Empty: unlimited.' },
      ],
    },
    ...families.map(
      (family): FormItem => ({
        legend: `Units of ${familyName(family)}`,
        items: [
          {
            class: 'pair',
            items: [
              { name: `${family}.perDay`, label: 'Per day', kind: 'integer', hint: 'Empty: unlimited.' },
              { name: `${family}.perMonth`, label: 'Per month', kind: 'integer', hint: 'Empty: unlimited.' },
            ],
          },
        ],
      }),
    ),
  ]
}

function scopeOption(scope: string) {
  return { value: scope, label: scopeName(scope), hint: scope }
}
