import { CheckBox, Copyable, Form, TextArea, TextField } from '../../components/form.tsx'
import type { Context } from '../../shell/context.ts'
import type { SettingsView } from './settings-view.ts'
import { LogoForm } from './status-logo.tsx'

/** Publishing the status page of a project, what it shows, and taking it down. */
export function PublicStatusPage({ context, view }: { context: Context; view: SettingsView }) {
  const page = view.statusPage
  return (
    <section class="card" aria-labelledby="status-page">
      <h2 id="status-page">Public status page</h2>
      <p class="muted">
        Shows names and states of checks with their last ninety days, to anybody who has its address. Nothing in it can
        ping or change them.
      </p>
      {page && (
        <p class="ping-url">
          <Copyable text={page.url} label="address of the status page" />
        </p>
      )}
      <Form context={context} action={`${view.base}/status-page`} class="stack">
        <div class="inline-fields">
          <TextField label="Title" name="title" value={page?.title ?? view.name} required maxLength={100} />
          <TextField
            label="Only checks with one of these tags"
            name="tags"
            value={page?.tags ?? ''}
            maxLength={200}
            placeholder="all checks"
          />
        </div>
        <TextArea label="What readers should know first" name="intro" value={page?.intro ?? ''} rows={2} />
        <CheckBox
          label="Group checks by their first tag"
          name="grouped"
          isChecked={page?.isGrouped ?? false}
          hint="Readers see that tag."
        />
        <div>
          <button type="submit">{page ? 'Save' : 'Publish'}</button>
        </div>
      </Form>
      {page && <LogoForm context={context} base={view.base} page={page} />}
      {page && (
        <div class="row foot">
          <a class="button" href={page.path}>
            Open
          </a>
          <a class="button" href={`${view.base}/status-notes`}>
            Notes
          </a>
          <Form
            context={context}
            action={`${view.base}/status-page/remove`}
            confirm="Unpublish the status page? Its address stops working for everybody who has it."
            yes="Unpublish"
          >
            <button type="submit" class="danger">
              Unpublish
            </button>
          </Form>
        </div>
      )}
    </section>
  )
}
