import type { ComponentChildren } from 'preact'
import type { Context } from '../shell/context.ts'
import { Problem } from '../shell/notice.tsx'
import { type FieldErrors, Fields, type FormItem, type FormValues } from './fields.tsx'

/** Adds the CSRF token of this browser. */
export function Form(props: {
  context: Context
  action: string
  children: ComponentChildren
  class?: string
  id?: string
  /** question of the dialog, or of a page without scripts */
  confirm?: string
  yes?: string
  /** message after a submission by script, which stays on the page */
  inline?: string
}) {
  return (
    <form
      method="post"
      action={props.action}
      id={props.id}
      class={props.class}
      data-confirm={props.confirm}
      data-yes={props.yes}
      data-inline={props.inline}
    >
      <input type="hidden" name="_csrf" value={props.context.csrf} />
      {props.confirm !== undefined && (
        <>
          <input type="hidden" name="_question" value={props.confirm} />
          <input type="hidden" name="_from" value={pageOf(props.context)} />
          {props.yes !== undefined && <input type="hidden" name="_yes" value={props.yes} />}
        </>
      )}
      {props.children}
    </form>
  )
}

/** Returns '' for the response to a form, which has no URL for GET. */
function pageOf({ request }: Context): string {
  return request.method === 'GET' ? request.originalUrl : ''
}

interface FormProps {
  context: Context
  action: string
  submit: string
  items?: readonly FormItem[]
  values?: FormValues | undefined
  /** by field name; '' for errors without a field */
  errors?: FieldErrors | undefined
  hidden?: Readonly<Record<string, string>>
}

type IsShown = (name: string) => boolean

/** The form of a page that creates or changes one object. */
export function EditForm(
  props: FormProps & {
    /** default: true for all named errors */
    isShown?: IsShown
    cancel: string
    confirm?: string | undefined
    /** CSS class in place of the default */
    class?: string
    /** buttons between submit and cancel */
    more?: ComponentChildren
    children?: ComponentChildren
  },
) {
  const { context, action, submit, items = [], values, errors = new Map(), hidden, confirm } = props
  return (
    <Form
      context={context}
      action={action}
      class={props.class ?? 'stack check-form'}
      {...(confirm !== undefined && { confirm })}
    >
      {/* The enter key presses the first button of a form, so the first button must submit. */}
      <button type="submit" class="hidden" tabIndex={-1} aria-hidden="true">
        {submit}
      </button>
      <Problem text={problemOf(errors, props.isShown)} />
      <Hidden fields={hidden} />
      <Fields items={items} values={values} errors={errors} />
      {props.children}
      <div class="form-foot">
        <button type="submit" class="primary">
          {submit}
        </button>
        {props.more}
        <a class="button" href={props.cancel}>
          Cancel
        </a>
      </div>
    </Form>
  )
}

/** A short form within a page. */
export function FieldForm(
  props: FormProps & {
    problem?: string | null | undefined
    class?: string
    /** makes the button as wide as the fields, for the main action of a narrow page */
    isMain?: boolean
    intro?: ComponentChildren
    children?: ComponentChildren
  },
) {
  const { context, action, submit, items = [], values, errors, hidden, problem, isMain = false } = props
  const button = (
    <button type="submit" class={isMain ? 'primary' : undefined}>
      {submit}
    </button>
  )
  return (
    <>
      <Problem text={problem} />
      <Form context={context} action={action} class={props.class ?? 'stack'}>
        {props.intro}
        <Hidden fields={hidden} />
        <Fields items={items} values={values} errors={errors} />
        {props.children}
        {isMain || props.class?.startsWith('inline-fields') ? button : <div>{button}</div>}
      </Form>
    </>
  )
}

export function ButtonForm(
  props: Omit<Parameters<typeof Form>[0], 'children'> & {
    label: ComponentChildren
    /** CSS class of the button */
    variant?: string | undefined
    /** accessible name, if the label does not name the object */
    name?: string
    hidden?: Readonly<Record<string, string>>
  },
) {
  const { label, variant, name, hidden, ...form } = props
  return (
    <Form {...form}>
      <Hidden fields={hidden} />
      <button type="submit" class={variant} aria-label={name}>
        {label}
      </button>
    </Form>
  )
}

function Hidden({ fields = {} }: { fields: FormProps['hidden'] | undefined }) {
  return (
    <>
      {Object.entries(fields).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
    </>
  )
}

/** Returns the first error that no field shows, otherwise a hint to the fields with errors. */
function problemOf(errors: FieldErrors, isShown: IsShown = (name) => name !== ''): string | undefined {
  if (errors.size === 0) return undefined
  return [...errors].find(([name]) => !isShown(name))?.[1] ?? 'Please fix the highlighted fields.'
}
