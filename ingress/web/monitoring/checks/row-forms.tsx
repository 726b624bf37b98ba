import type { ComponentChildren } from 'preact'
import { Form } from '../../forms/form.tsx'
import type { Context } from '../../shell/context.ts'

interface RowFormsProps {
  context: Context
  pingBase: string
  /** null when the project has none: then addresses are by uuid */
  pingKey: string | null
  /** the list; its buttons belong to the form around it */
  children: ComponentChildren
}

/**
 * Renders the list with what its rows share: the forms of their buttons, each with its own address, and the menu of
 * rarely needed actions, which a script fills for a row. Separate ones made up half of the page. A ping has no fields,
 * because they would be stored as its body.
 */
export function RowForms({ context, pingBase, pingKey, children }: RowFormsProps) {
  return (
    <>
      <Form context={context} id="rows" action="/checks/toggle" inline="Saved">
        <input type="hidden" name="back" value={context.request.originalUrl} />
        {children}
      </Form>
      <form method="post" id="ping-form" data-inline="Pinged" />
      <section id="row-menu" class="row-menu" popover="auto" aria-label="Actions">
        <button
          type="button"
          data-copy={`${pingBase}/`}
          data-slugs={pingKey === null ? undefined : `${pingBase}/${pingKey}/`}
        >
          Copy ping address
        </button>
        <button type="submit" form="ping-form">
          Ping now
        </button>
        <button type="submit" form="rows" data-does="pause" data-inline="Paused">
          Pause
        </button>
        <button type="submit" form="rows" data-does="resume" data-inline="Resumed">
          Resume
        </button>
        <button type="submit" form="rows" data-does="mute" data-inline="Muted for 1 hour">
          Mute for 1 hour
        </button>
        <button type="submit" form="rows" data-does="unmute" data-inline="Unmuted">
          Unmute
        </button>
        <a href="#row-menu" data-does="edit">
          Edit
        </a>
      </section>
    </>
  )
}
