import type { ComponentChildren } from 'preact'
import { ButtonForm } from '../forms/form.tsx'
import type { Context } from '../shell/context.ts'

export interface Action {
  label: string
  /** a page, or the address of a form with only a button */
  href: string
  isForm?: boolean
  /** question before the form is submitted */
  confirm?: string
  /** shown apart from the other actions */
  isDestructive?: boolean
}

/** A link or a form with one button. @param variant CSS class of the link or button */
export function ActionButton(props: { context: Context; action: Action; variant?: string }) {
  const { context, action, variant } = props
  const { label, href, isForm, confirm } = action
  if (!isForm)
    return (
      <a class={variant === undefined ? 'button' : `button ${variant}`} href={href}>
        {label}
      </a>
    )
  return (
    <ButtonForm
      context={context}
      action={href}
      label={label}
      variant={variant}
      {...(confirm !== undefined && { confirm })}
    />
  )
}

/** A menu that needs no script; a single harmless action is a button. Returns nothing without actions. */
export function MoreActions(props: { context: Context; actions: readonly Action[] }) {
  const { context, actions } = props
  const [only] = actions
  if (only === undefined) return null
  if (actions.length === 1 && !isApart(only)) return <ActionButton context={context} action={only} />
  const ordered = actions.toSorted((one, other) => Number(isApart(one)) - Number(isApart(other)))
  const firstApart = ordered.findIndex(isApart)
  return (
    <details class="menu more-actions">
      <summary>More actions</summary>
      <ul>
        {ordered.map((action, index) => (
          <li key={action.href} class={index > 0 && index === firstApart ? 'menu-foot' : undefined}>
            <ActionButton context={context} action={action} {...(isApart(action) && { variant: 'danger' })} />
          </li>
        ))}
      </ul>
    </details>
  )
}

const isApart = ({ isDestructive = false }: Action) => isDestructive

/** Shows the next step on the page of an object, or why nothing is due. */
export function NextAction(props: {
  context: Context
  text: ComponentChildren
  /** the first one is the main action */
  actions?: readonly Action[]
  more?: readonly Action[]
  /** a form, if the step needs one */
  children?: ComponentChildren
}) {
  const { context, text, actions = [], more = [], children } = props
  return (
    <section class="card next-action" aria-labelledby="next-action">
      <div>
        <h2 id="next-action">Next step</h2>
        <p>{text}</p>
      </div>
      {children}
      {actions.length + more.length > 0 && (
        <div class="row">
          {actions.map((action, index) => (
            <ActionButton
              key={action.href}
              context={context}
              action={action}
              {...(index === 0 && { variant: 'primary' })}
            />
          ))}
          <MoreActions context={context} actions={more} />
        </div>
      )}
    </section>
  )
}
