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
import { CheckBox, Form, SelectField, TextArea, TextField } from '../../components/form.tsx'
import { Problem } from '../../components/notice.tsx'
import { type Context, type FormContext, field, type Pages, redirect } from '../../shell/context.ts'
import type { RiskArea } from '../../shell/navigation.ts'
import { CONSOLE, type Console, loadConsole, sendConsole } from '../console.tsx'

/** A member of the body that a form asks for; dots lead into members of members. */
export interface FormField {
  name: string
  label: string
  hint?: string
  /** `choices` takes any number of its options, and gives a list */
  kind?: 'text' | 'number' | 'email' | 'select' | 'lines' | 'check' | 'choices'
  options?: readonly { value: string; label: string }[]
  isRequired?: boolean
  isMono?: boolean
  /** what stands there at first */
  value?: string
  /** the same, in the sandbox alone */
  demo?: string
}

/** What a sent form is done with. */
export interface Sent<Body> {
  context: FormContext
  console: Console
  body: Body
  /** a form that is sent twice is done once */
  once: IdempotentRequest
}

/** A form of the console that does what an operation of the API does, under the same rules. */
export interface EvidenceForm<Body> {
  /** below the console; may have parameters */
  path: string
  family: Family
  area: RiskArea
  title: string
  intro?: ComponentChildren
  /** or what makes them, where they offer what there is */
  fields: readonly FormField[] | ((context: Context, console: Console) => Promise<readonly FormField[]>)
  button: string
  /** asked before what cannot be taken back */
  confirm?: string
  schema: z.ZodType<Body>
  /** in place of the fields as they are */
  bodyOf?(form: URLSearchParams): unknown
  /** @returns where to go on, below the console */
  submit(sent: Sent<Body>): Promise<string>
}

/** The console for somebody who may change something in it. @throws ForbiddenError without the family */
export async function requireFamily(context: Context, family: Family): Promise<Console> {
  const console = await loadConsole(context, 'edit')
  // The same as for a token: what the organisation is not entitled to, its people are not either.
  const families = await listEntitlements(context.deps.db, console.organisationId)
  if (families.some((one) => one.family === family)) return console
  throw new ForbiddenError(`Your organisation is not entitled to ${family}; the operator can grant that.`)
}

/** Registers a form: shown by GET, done by POST, which leads on to what came of it. */
export function evidenceForm<Body>(pages: Pages, form: EvidenceForm<Body>): void {
  pages.get(CONSOLE + form.path, async (context) => {
    const console = await requireFamily(context, form.family)
    const fields = await fieldsOf(form, context, console)
    const first = fields.map(({ name, value, demo }) => {
      const given = context.query.get(name) ?? value ?? (console.env === 'SANDBOX' ? demo : undefined)
      return [name, given ?? ''] as const
    })
    show(context, console, form, { fields, values: Object.fromEntries(first), requestKey: randomUUID() })
  })
  pages.post(CONSOLE + form.path, async (context) => {
    const console = await requireFamily(context, form.family)
    const requestKey = field(context.form, 'requestKey')
    if (!isUuid(requestKey)) throw new NotFoundError('This form is not one of ours.')
    const fields = await fieldsOf(form, context, console)
    try {
      const body = form.bodyOf ? form.bodyOf(context.form) : bodyOf(context.form, fields)
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
      const values = Object.fromEntries(fields.map(({ name }) => [name, context.form.getAll(name).join(SEPARATOR)]))
      const status = error instanceof ValidationError ? 422 : problem.status
      show(context, console, form, {
        fields,
        values,
        requestKey,
        errors: problem.errors,
        message: problem.message,
        status,
      })
    }
  })
}

/** Between the choices of a field; no value of an option has it. */
const SEPARATOR = '\n'

async function fieldsOf<Body>(
  { fields }: EvidenceForm<Body>,
  context: Context,
  console: Console,
): Promise<readonly FormField[]> {
  return typeof fields === 'function' ? await fields(context, console) : fields
}

/** The body that the fields make; what is empty is absent, and no number is left as text for the rules to refuse. */
function bodyOf(form: URLSearchParams, fields: readonly FormField[]): unknown {
  const body: Record<string, unknown> = {}
  for (const { name, kind } of fields) {
    if (kind === 'choices') {
      body[name] = form.getAll(name)
      continue
    }
    const text = field(form, name)
    if (text === '') continue
    const steps = name.split('.')
    const last = steps.pop() ?? name
    let place = body
    for (const step of steps) {
      const next = (place[step] ?? {}) as Record<string, unknown> // made here, one line below
      place[step] = next
      place = next
    }
    place[last] = kind === 'check' ? text === 'on' : kind === 'number' ? numberOf(text) : text
  }
  return body
}

/** A number where it is one, with or without its commas; else the text, which the rules refuse by name. */
export function numberOf(text: string): number | string {
  const plain = text.replaceAll(',', '')
  return /^-?[0-9]+(\.[0-9]+)?$/.test(plain) ? Number(plain) : text
}

/** A document as it was written; what is none is left for the rules to refuse. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

interface Shown {
  fields: readonly FormField[]
  values: Readonly<Record<string, string>>
  requestKey: string
  errors?: readonly FieldError[]
  message?: string
  status?: number
}

function show<Body>(context: Context, console: Console, form: EvidenceForm<Body>, shown: Shown): void {
  const { fields, values, requestKey, errors = [], message, status = 200 } = shown
  const errorOf = (name: string) => errors.find(({ path }) => path === name || path.startsWith(`${name}[`))
  const isBesideField =
    errors.length > 0 && errors.every(({ path }) => fields.some(({ name }) => errorOf(name)?.path === path))
  const problem = isBesideField ? 'Some fields need another value.' : message
  const action = console.base + fill(form.path, context.params)
  sendConsole(
    context,
    console,
    { title: form.title, area: form.area },
    <>
      <h1>{form.title}</h1>
      {form.intro !== undefined && <p class="muted">{form.intro}</p>}
      <Problem text={problem} />
      <Form
        context={context}
        action={action}
        class="card stack check-form"
        {...(form.confirm === undefined ? {} : { confirm: form.confirm })}
      >
        <input type="hidden" name="requestKey" value={requestKey} />
        {fields.map((one) => (
          <Field key={one.name} field={one} value={values[one.name] ?? ''} error={besideField(errorOf(one.name))} />
        ))}
        <div class="form-foot">
          <button class="primary" type="submit">
            {form.button}
          </button>
          <a class="button" href={`${console.base}/${form.area}`}>
            Cancel
          </a>
        </div>
      </Form>
    </>,
    status,
  )
}

const fill = (path: string, params: Context['params']) =>
  path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))

function Field({ field: one, value, error }: { field: FormField; value: string; error: string | undefined }) {
  const { name, label, kind = 'text', options = [], isRequired = false, isMono = false } = one
  const common = { name, label, error, ...(one.hint === undefined ? {} : { hint: one.hint }) }
  switch (kind) {
    case 'select':
      return <SelectField {...common} value={value} options={options} />
    case 'lines':
      return <TextArea {...common} value={value} rows={4} required={isRequired} />
    case 'choices':
      return <Choices field={one} chosen={value.split(SEPARATOR)} error={error} />
    case 'check':
      return (
        <CheckBox
          name={name}
          label={label}
          isChecked={value === 'on'}
          {...(one.hint === undefined ? {} : { hint: one.hint })}
        />
      )
    default:
      return (
        <TextField
          {...common}
          value={value}
          type={kind === 'email' ? 'email' : 'text'}
          isMono={isMono}
          required={isRequired}
        />
      )
  }
}

function Choices(props: { field: FormField; chosen: readonly string[]; error: string | undefined }) {
  const { name, label, hint, options = [] } = props.field
  return (
    <fieldset class={props.error === undefined ? undefined : 'wrong'}>
      <legend>{label}</legend>
      {hint !== undefined && <p class="hint">{hint}</p>}
      {props.error !== undefined && <p class="field-error">{props.error}</p>}
      {options.map(({ value, label: text }) => (
        <CheckBox key={value} name={name} value={value} label={text} isChecked={props.chosen.includes(value)} />
      ))}
    </fieldset>
  )
}

/** The field's own label stands above the message, so its name in the API is left out. */
function besideField(error: FieldError | undefined): string | undefined {
  if (!error) return undefined
  const text = error.message.startsWith(error.path)
    ? error.message.slice(error.path.length).replace(/^:? /, '')
    : error.message
  return text.charAt(0).toUpperCase() + text.slice(1)
}
