import { randomUUID } from 'node:crypto'
import type { ComponentChildren } from 'preact'
import type { z } from 'zod'
import { DomainError, type FieldError, ForbiddenError, NotFoundError, ValidationError } from '#shared/errors.ts'
import { parseWith } from '#shared/parse-with.ts'
import { listEntitlements } from '#shared/risk/risk-console/store.ts'
import { type IdempotentRequest, requestFingerprint } from '#shared/tenancy/idempotency/store.ts'
import type { Family } from '#shared/tenancy/oauth/families.ts'
import { isUuid } from '#shared/uuid.ts'
import { toProblem } from '../../../errors.ts'
import { type FieldErrors, type FormField, type FormItem, type FormValues, fieldsOf } from '../../forms/fields.tsx'
import { EditForm } from '../../forms/form.tsx'
import { type Context, type FormContext, field, type Pages, redirect } from '../../shell/context.ts'
import type { RiskArea } from '../../shell/navigation.ts'
import { riskAssets } from '../assets.ts'
import { CONSOLE, type Console, loadConsole, sendConsole } from '../console.tsx'
import { codeName } from './names.ts'

export interface Sent<Body> {
  context: FormContext
  console: Console
  body: Body
  /** a repeated submission of the form returns the first result */
  once: IdempotentRequest
}

/** Members of a request body, from the filled fields. */
export type Typed = Record<string, unknown>

/** A form that runs an operation of the API with its validation. Dots in field names create nested members. */
export interface EvidenceForm<Body> {
  /** below the console; may have parameters */
  path: string
  family: Family
  area: RiskArea
  title: string
  intro?: ComponentChildren
  /** answers 404 in production */
  isSandboxOnly?: boolean
  /** a function if the options depend on stored data */
  fields: readonly FormItem[] | ((context: Context, console: Console) => Promise<readonly FormItem[]>)
  button: string
  /** target of Cancel, below the console; default: the area */
  cancel?: (params: Context['params']) => string
  /** question before an action that cannot be undone */
  confirm?: string
  schema: z.ZodType<Body>
  /** changes the body before validation */
  complete?(body: Typed): unknown
  /** replaces the API's message, without the name of the field */
  errorText?(error: FieldError): string
  /** @returns path of the next page, below the console */
  submit(sent: Sent<Body>): Promise<string>
}

/** Returns the console for a user with the right to edit. @throws ForbiddenError without the family */
export async function requireFamily(context: Context, family: Family): Promise<Console> {
  const console = await loadConsole(context, 'edit')
  // As for access tokens, users need the organisation's entitlement.
  const families = await listEntitlements(context.deps.db, console.organisationId)
  if (families.some((one) => one.family === family)) return console
  throw new ForbiddenError(`Your organisation is not entitled to ${family}; the operator can grant that.`)
}

/** GET shows the form; POST submits it and redirects to the result. */
export function evidenceForm<Body>(pages: Pages, form: EvidenceForm<Body>): void {
  pages.get(CONSOLE + form.path, async (context) => {
    const console = await openForm(form, context)
    const items = await itemsOf(form, context, console)
    const values = fieldsOf(items).map(({ name, value, demo }) => {
      return [name, context.query.get(name) ?? value ?? (console.env === 'SANDBOX' ? demo : undefined)] as const
    })
    show(context, console, form, { items, values: Object.fromEntries(values), requestKey: randomUUID() })
  })
  pages.post(CONSOLE + form.path, async (context) => {
    const console = await openForm(form, context)
    const requestKey = field(context.form, 'requestKey')
    if (!isUuid(requestKey)) throw new NotFoundError('The form is incomplete: open it again.')
    const items = await itemsOf(form, context, console)
    const fields = fieldsOf(items)
    try {
      const typed = bodyOf(context.form, fields)
      const body = form.complete ? form.complete(typed) : typed
      const parsed = parseWith(form.schema, body, 'the form')
      const scope = { organisationId: console.organisationId, env: console.env, key: `page-${requestKey}` }
      const { params } = context
      const fingerprint = requestFingerprint({
        method: 'POST',
        route: form.path,
        params,
        body: JSON.parse(JSON.stringify(body)),
      })
      const next = await form.submit({ context, console, body: parsed, once: { scope, fingerprint } })
      redirect(context, console.base + next)
    } catch (error) {
      if (!(error instanceof DomainError) || error instanceof NotFoundError) throw error
      const problem = toProblem(error, context.response, context.deps)
      show(context, console, form, {
        items,
        values: Object.fromEntries(fields.map(({ name }) => [name, context.form.getAll(name)])),
        requestKey,
        errors: errorsBeside(fields, problem, form.errorText ?? besideField),
        status: error instanceof ValidationError ? 422 : problem.status,
      })
    }
  })
}

async function openForm<Body>({ family, isSandboxOnly }: EvidenceForm<Body>, context: Context): Promise<Console> {
  const console = await requireFamily(context, family)
  if (isSandboxOnly && console.env !== 'SANDBOX')
    throw new NotFoundError('Production packs are requested through the API.')
  return console
}

async function itemsOf<Body>(
  { fields }: EvidenceForm<Body>,
  context: Context,
  console: Console,
): Promise<readonly FormItem[]> {
  return typeof fields === 'function' ? await fields(context, console) : fields
}

/** Returns errors by field, and the message by '' unless each error has a field. */
function errorsBeside(
  fields: readonly FormField[],
  { errors = [], message }: { errors?: readonly FieldError[]; message: string },
  textOf: (error: FieldError) => string,
): FieldErrors {
  const nameOf = ({ path }: FieldError) => fields.find(({ name }) => path === name || path.startsWith(`${name}[`))?.name
  const beside = errors.flatMap((error) => {
    const name = nameOf(error)
    return name === undefined ? [] : [[name, textOf(error)] as const]
  })
  // Shows the first of several errors of a field.
  const shown = new Map(beside.toReversed())
  return errors.length > 0 && beside.length === errors.length ? shown : new Map([...shown, ['', message]])
}

/** Omits empty fields. An invalid number remains text, for the schema to refuse. */
function bodyOf(form: URLSearchParams, fields: readonly FormField[]): Typed {
  const body: Typed = {}
  for (const { name, kind, parse } of fields) {
    if (kind === 'choices') {
      body[name] = form.getAll(name)
      continue
    }
    const text = field(form, name)
    if (text === '') continue
    const steps = name.split('.')
    const last = steps.pop() ?? name
    let parent = body
    for (const step of steps) {
      const next = (parent[step] ?? {}) as Typed // made here, one line below
      parent[step] = next
      parent = next
    }
    parent[last] = kind === 'check' ? text === 'on' : parse ? parse(text) : kind === 'number' ? numberOf(text) : text
  }
  return body
}

/** Accepts commas. Returns other text unchanged, for the schema to refuse. */
export function numberOf(text: string): number | string {
  const plain = text.replaceAll(',', '')
  return /^-?[0-9]+(\.[0-9]+)?$/.test(plain) ? Number(plain) : text
}

export function codeField(name: string, label: string, codes: readonly string[], value?: string): FormField {
  return { name, label, kind: 'select', options: codes.map((code) => ({ value: code, label: codeName(code) })), value }
}

/** An instant that is chosen in UTC. */
export function instantField(name: string, label: string): FormField {
  return { name, label: `${label} (UTC)`, kind: 'datetime', hasSeconds: true, isRequired: true, parse: utcOf }
}

/** Adds the zone to the text of a browser, which omits zero seconds. Returns other text unchanged. */
function utcOf(text: string): string {
  const [, minutes, seconds = ':00'] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(:\d\d)?(?:\.0+)?$/.exec(text) ?? []
  return minutes === undefined ? text : `${minutes}${seconds}Z`
}

/** Splits at spaces, line breaks and commas. */
export function listOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean)
}

/** Returns other text unchanged, for the schema to refuse. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

interface Shown {
  items: readonly FormItem[]
  values: FormValues
  requestKey: string
  errors?: FieldErrors
  status?: number
}

function show<Body>(context: Context, console: Console, form: EvidenceForm<Body>, shown: Shown): void {
  const { requestKey, status = 200, ...rest } = shown
  sendConsole(
    context,
    console,
    { title: form.title, area: form.area },
    <>
      <h1>{form.title}</h1>
      {form.intro !== undefined && <p class="muted">{form.intro}</p>}
      {fieldsOf(rest.items).some(({ isRequired }) => isRequired) && <p class="hint">Fields with * are required.</p>}
      <EditForm
        context={context}
        action={console.base + fill(form.path, context.params)}
        class="card stack check-form shows-required"
        confirm={form.confirm}
        hidden={{ requestKey }}
        submit={form.button}
        cancel={console.base + (form.cancel?.(context.params) ?? `/${form.area}`)}
        {...rest}
      />
      {fieldsOf(rest.items).some(({ kind }) => kind === 'hash') && <script type="module" src={riskAssets.hash.path} />}
    </>,
    status,
  )
}

const fill = (path: string, params: Context['params']) =>
  path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))

/** Removes the API's field name from a message, because the label is above it. */
export function besideField({ path, message }: FieldError): string {
  const text = message.startsWith(path) ? message.slice(path.length).replace(/^:? /, '') : message
  return text.charAt(0).toUpperCase() + text.slice(1)
}
