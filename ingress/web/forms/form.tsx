import type { ComponentChildren } from 'preact'
import type { Context } from '../shell/context.ts'
import { Problem } from '../shell/notice.tsx'
import { type FieldErrors, Fields, type FormItem, type FormValues } from './fields.tsx'

/** A form that changes something, with the CSRF token of this browser. */
export function Form(props: {
  context: Context
  action: string
  children: ComponentChildren
  class?: string
  id?: string
  /** question to confirm first, in a dialog, or on a page when scripts are off */
  confirm?: string
  /** label of the button that confirms */
  yes?: string
  /** submitted by script without leaving the page; the message shown when it is done */
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

/** Returns the URL of the page, or '' for the response to a form, which has no URL for GET. */
function pageOf({ request }: Context): string {
  return request.method === 'GET' ? request.originalUrl : ''
}

interface FormProps {
  context: Context
  action: string
  /** label of the button that submits */
  submit: string
  items?: readonly FormItem[]
  values?: FormValues | undefined
  /** by the names of fields; an error of no field has the name '' */
  errors?: FieldErrors | undefined
  /** hidden fields */
  hidden?: Readonly<Record<string, string>>
}

/** Returns true if the error of a field is shown beside it. */
type IsShown = (name: string) => boolean

/** A page's form that creates or changes one thing: problem, fields, a button that submits and a link to cancel. */
export function EditForm(
  props: FormProps & {
    /** all named errors when absent */
    isShown?: IsShown
    /** address of the cancel link */
    cancel: string
    /** question to confirm before the form is submitted */
    confirm?: string | undefined
    /** CSS class in place of the default */
    class?: string
    /** other buttons, between the two */
    more?: ComponentChildren
    /** below the fields */
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

/** A short form that is a part of a page: problem, fields, one button. */
export function FieldForm(
  props: FormProps & {
    /** a problem of the form as a whole */
    problem?: string | null | undefined
    /** CSS class in place of the default */
    class?: string
    /** the main action of a narrow page: its button is as wide as the fields */
    isMain?: boolean
    /** above and below the fields */
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

/** One button that changes something. */
export function ButtonForm(
  props: Omit<Parameters<typeof Form>[0], 'children'> & {
    label: ComponentChildren
    /** CSS class of the button */
    look?: string | undefined
    /** accessible name, where the label does not name the object */
    name?: string
    hidden?: Readonly<Record<string, string>>
  },
) {
  const { label, look, name, hidden, ...form } = props
  return (
    <Form {...form}>
      <Hidden fields={hidden} />
      <button type="submit" class={look} aria-label={name}>
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

/** Returns the error that no field shows, otherwise a hint to those that are shown, or undefined without errors. */
function problemOf(errors: FieldErrors, isShown: IsShown = (name) => name !== ''): string | undefined {
  if (errors.size === 0) return undefined
  return [...errors].find(([name]) => !isShown(name))?.[1] ?? 'Please fix the highlighted fields.'
}
