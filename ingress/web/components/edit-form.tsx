import type { ComponentChildren } from 'preact'
import type { Context } from '../shell/context.ts'
import { Form } from './form.tsx'
import { Problem } from './notice.tsx'

/** Whether an error belongs to a field that shows it; by default all do, but the one without a name. */
type IsShown = (name: string) => boolean

/**
 * A form on a page of its own, which makes or changes one thing: what is wrong above, the fields in boxes, and below
 * the button that saves and the way out. Checks, policies, windows and integrations are all filled in by it.
 */
export function EditForm(props: {
  context: Context
  action: string
  /** by the names of fields; what belongs to none is said above the form */
  errors?: ReadonlyMap<string, string> | undefined
  isShown?: IsShown
  /** what the button says that saves */
  submit: string
  /** where the way out leads */
  cancel: string
  /** other buttons, between the two */
  more?: ComponentChildren
  children: ComponentChildren
}) {
  return (
    <Form context={props.context} action={props.action} class="stack check-form">
      {/* What the enter key presses, whichever other buttons stand among the fields. */}
      <button type="submit" class="hidden" tabIndex={-1} aria-hidden="true">
        {props.submit}
      </button>
      <Problem text={problemOf(props.errors ?? new Map(), props.isShown)} />
      {props.children}
      <div class="form-foot">
        <button type="submit" class="primary">
          {props.submit}
        </button>
        {props.more}
        <a class="button" href={props.cancel}>
          Cancel
        </a>
      </div>
    </Form>
  )
}

/** What is said above a form: what no field says, else that one of them does; nothing while nothing is wrong. */
function problemOf(errors: ReadonlyMap<string, string>, isShown: IsShown = (name) => name !== ''): string | undefined {
  if (errors.size === 0) return undefined
  return [...errors].find(([name]) => !isShown(name))?.[1] ?? 'Something below is not right yet.'
}
