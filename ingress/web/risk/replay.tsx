import { countReplayable, REPLAYABLE } from '#shared/webhooks/delivery-store.ts'
import { replayEndpoint } from '#shared/webhooks/operations/deliveries.ts'
import { Form } from '../forms/form.tsx'
import { CheckBox } from '../forms/inputs.tsx'
import { personOf } from '../shell/audit.ts'
import { type Context, type FormContext, field, type Pages, redirect } from '../shell/context.ts'
import { setFlash } from '../shell/flash.ts'
import { CONSOLE, loadConsole } from './console.tsx'
import { requireEndpoint } from './webhook-actions.tsx'

/** Maximum deliveries of one replay from the page. */
const REPLAY_LIMIT = 10_000

/** Replays missed deliveries after a preview of their number. */
export function replayPages(pages: Pages): void {
  pages.post(`${CONSOLE}/webhooks/:endpoint/replay`, replay)
}

export function Replay({ context, path }: { context: Context; path: string }) {
  const { query } = context
  const chosen = query.getAll('replay')
  return (
    <section class="card form-wide" id="replay" aria-labelledby="replay-title">
      <h2 id="replay-title">Replay</h2>
      <p class="muted">Sends the same events with the same bodies once more, in order, at most 50 a second.</p>
      <Form context={context} action={`${path}/replay`} class="stack">
        <fieldset class="plain-choices">
          <legend>Deliveries that are</legend>
          {REPLAYABLE.map((state) => (
            <CheckBox
              key={state}
              name="state"
              value={state}
              label={state.toLowerCase()}
              isChecked={chosen.length === 0 ? state !== 'DELIVERED' : chosen.includes(state)}
            />
          ))}
        </fieldset>
        <div class="columns">
          {(['from', 'to'] as const).map((name) => (
            <div class="field" key={name}>
              <label for={`replay-${name}`}>{name === 'from' ? 'Events from (UTC)' : 'Events until (UTC)'}</label>
              <input
                id={`replay-${name}`}
                name={name}
                type="datetime-local"
                value={query.get(`replay-${name}`) ?? ''}
              />
            </div>
          ))}
        </div>
        <p class="row">
          <button type="submit" name="do" value="preview">
            Count them
          </button>
          <button type="submit" name="do" value="replay">
            Replay
          </button>
        </p>
      </Form>
    </section>
  )
}

async function replay(context: FormContext): Promise<void> {
  const console = await loadConsole(context, 'manage')
  const { id } = await requireEndpoint(context, console)
  const { form, deps } = context
  const wanted = new Set(form.getAll('state'))
  const states = REPLAYABLE.filter((state) => wanted.has(state))
  const [from, to] = [instantOf(form, 'from'), instantOf(form, 'to')]
  const path = `${console.base}/webhooks/${id}`
  const kept = new URLSearchParams(states.map((state) => ['replay', state]))
  for (const name of ['from', 'to']) if (field(form, name) !== '') kept.append(`replay-${name}`, field(form, name))
  if (from === undefined || to === undefined) {
    setFlash(context, path, { notice: 'Nothing is sent: a time is written as 2026-01-31T10:00.' })
    return redirect(context, `${path}?${kept}#replay`)
  }
  const what = { endpointId: id, from, to, states, limit: REPLAY_LIMIT }
  if (field(form, 'do') === 'preview') {
    const count = await countReplayable(deps.db, what)
    const most = count === REPLAY_LIMIT ? ' or more, of which one replay takes so many' : ''
    setFlash(context, path, { notice: `${deliveries(count)}${most} would be sent again.` })
    return redirect(context, `${path}?${kept}#replay`)
  }
  const count = await deps.outbox.run((tx, enqueue) =>
    replayEndpoint(tx, personOf(context, console.session), { ...what, scope: console }, { enqueue }),
  )
  const notice =
    count === 0
      ? 'Nothing matched: there is no such delivery to send again.'
      : `${deliveries(count)} ${count === 1 ? 'is' : 'are'} sent again.`
  setFlash(context, path, { notice })
  redirect(context, path)
}

function deliveries(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'delivery' : 'deliveries'}`
}

/** @returns null for an empty field, undefined for an invalid instant */
function instantOf(form: URLSearchParams, name: string): Date | null | undefined {
  const text = field(form, name)
  if (text === '') return null
  const date = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(text) ? new Date(`${text}Z`) : null
  return date && !Number.isNaN(date.getTime()) ? date : undefined
}
