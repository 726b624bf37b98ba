import { RateLimitedError } from '#shared/errors.ts'
import type { ConfigObject } from '#shared/monitoring/integrations/shown-config.ts'
import type { StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import { type TriedWebhook, tryWebhook } from '#shared/monitoring/operations/try-webhook.ts'
import { personOf } from '../../shell/audit.ts'
import type { FormContext } from '../../shell/context.ts'
import { field } from '../../shell/context.ts'
import type { ProjectWorkspace } from '../../shell/workspace.ts'

/** What the buttons say, and the sides that they send. */
const SIDES = [
  { side: 'down', does: 'test-down', button: 'Send test down', title: 'Test of a failure' },
  { side: 'up', does: 'test-up', button: 'Send test up', title: 'Test of a recovery' },
] as const

/** They send what the form holds now, and lead to the result. */
export function TrialButtons({ action }: { action: string }) {
  return (
    <>
      {SIDES.map(({ does, button }) => (
        <button key={does} type="submit" name="do" value={does} formAction={`${action}#trial`}>
          {button}
        </button>
      ))}
    </>
  )
}

/**
 * Sends a test of the webhook that the form describes, where it asks for that, and waits for what comes of it.
 * @returns what the form shows; null where it asks for something else
 * @throws as tryWebhook does for what is not valid
 */
export async function trialOf(
  context: FormContext,
  { project, session }: ProjectWorkspace,
  { channel, config }: { channel: StoredIntegration | null; config: ConfigObject },
) {
  const { deps, form, pingRefusal } = context
  const requested = SIDES.find(({ does }) => does === form.get('do'))
  if (!requested) return null
  if (pingRefusal?.isBroker) return { problem: 'Nothing was sent: the message broker cannot be reached.' }
  const trial = { project, channel, config, name: field(form, 'name'), status: requested.side }
  try {
    const tried = await tryWebhook(deps.db, personOf(context, session), trial, deps)
    return { problem: null, preview: <Trial title={requested.title} said={said(tried)} /> }
  } catch (error) {
    if (!(error instanceof RateLimitedError)) throw error
    return { problem: error.message }
  }
}

function Trial({ title, said: { isGood, text } }: { title: string; said: ReturnType<typeof said> }) {
  return (
    <section class="card" id="trial" role="status" aria-labelledby="trial-title">
      <h2 id="trial-title">{title}</h2>
      <p class={isGood ? 'notice' : 'problem'}>{text}</p>
      <p class="hint">Nothing is saved.</p>
    </section>
  )
}

function said(tried: TriedWebhook): { isGood: boolean; text: string } {
  if (tried === 'nothing') return { isGood: false, text: 'Nothing is sent then: there is no address for it.' }
  if (tried === 'silence') {
    return { isGood: false, text: 'No result came within 20 seconds: no worker is free, or none runs.' }
  }
  const { status, error, durationMs } = tried
  if (error === '') return { isGood: true, text: `Sent: the receiver answered ${status} after ${durationMs} ms.` }
  return { isGood: false, text: `Not delivered, after ${durationMs} ms: ${error}.` }
}
