import { RateLimitedError } from '#shared/errors.ts'
import type { WebhookConfig } from '#shared/monitoring/integrations/kinds/webhook.ts'
import type { ConfigObject } from '#shared/monitoring/integrations/shown-config.ts'
import type { StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import type { PlaceholderValues } from '#shared/monitoring/notifications/placeholders.ts'
import { type WebhookRequest, webhookRequest } from '#shared/monitoring/notifications/webhook-request.ts'
import { type TriedWebhook, tryWebhook } from '#shared/monitoring/operations/try-webhook.ts'
import { personOf } from '../../shell/audit.ts'
import { CodeBlock } from '../../shell/basics.tsx'
import { type FormContext, field } from '../../shell/context.ts'
import type { ProjectWorkspace } from '../../shell/workspace.ts'

/** Example data; a real request has the values of the check. */
const EXAMPLE = {
  uuid: 'f3b1c6a2-5d4e-4c1b-9a70-2e8d6b7c9f10',
  now: '2026-11-21T03:47:12+00:00',
  name: 'Nightly backup',
  slug: 'nightly-backup',
  tags: 'prod db',
  checkJson: '{"name": "Nightly backup", "slug": "nightly-backup", "tags": "prod db"}',
  body: 'disk full',
  exitStatus: 1,
} as const satisfies Omit<PlaceholderValues, 'status'>

/** @param config valid, without stored secrets */
export function WebhookPreview({ config }: { config: WebhookConfig }) {
  const sides = [
    { status: 'down', title: 'When a check goes down', hasAddress: config.url_down !== '' },
    { status: 'up', title: 'When it comes back', hasAddress: config.url_up !== '' },
  ] as const
  return (
    <section class="card" role="status" aria-label="What would be sent">
      <h2>What would be sent</h2>
      <p class="muted">With values of a check that is thought up. Nothing is saved or sent.</p>
      {sides.map(({ status, title, hasAddress }) => (
        <div key={status}>
          <h3>{title}</h3>
          {hasAddress ? (
            <CodeBlock text={requestText(webhookRequest(config, { ...EXAMPLE, status }))} label={title} />
          ) : (
            <p class="muted">Nothing: there is no address.</p>
          )}
        </div>
      ))}
    </section>
  )
}

function requestText({ method, url, headers, body }: WebhookRequest): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`${method} ${url}`, ...lines, ...(body === null || body === '' ? [] : ['', body])].join('\n')
}

const SIDES = [
  { side: 'down', does: 'test-down', button: 'Send test down', title: 'Test of a failure' },
  { side: 'up', does: 'test-up', button: 'Send test up', title: 'Test of a recovery' },
] as const

/** The buttons send the unsaved form and show the result. */
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
 * Sends a test with the unsaved form if requested, and waits for the result.
 * @returns null if the form does not request a test
 * @throws as `tryWebhook` for invalid input
 */
export async function trialOf(
  context: FormContext,
  { project, session }: ProjectWorkspace,
  { integration, config }: { integration: StoredIntegration | null; config: ConfigObject },
) {
  const { deps, form, pingRefusal } = context
  const requested = SIDES.find(({ does }) => does === form.get('do'))
  if (!requested) return null
  if (pingRefusal?.isBroker) return { problem: 'Nothing was sent: the message broker cannot be reached.' }
  const trial = { project, integration, config, name: field(form, 'name'), status: requested.side }
  try {
    const tried = await tryWebhook(deps.db, personOf(context, session), trial, deps)
    return { problem: null, preview: <Trial title={requested.title} output={describe(tried)} /> }
  } catch (error) {
    if (!(error instanceof RateLimitedError)) throw error
    return { problem: error.message }
  }
}

function Trial({ title, output: { isGood, text } }: { title: string; output: ReturnType<typeof describe> }) {
  return (
    <section class="card" id="trial" role="status" aria-labelledby="trial-title">
      <h2 id="trial-title">{title}</h2>
      <p class={isGood ? 'notice' : 'problem'}>{text}</p>
      <p class="hint">Nothing is saved.</p>
    </section>
  )
}

function describe(tried: TriedWebhook): { isGood: boolean; text: string } {
  if (tried === 'nothing') return { isGood: false, text: 'Nothing is sent then: there is no address for it.' }
  if (tried === 'silence') {
    return { isGood: false, text: 'No result came within 20 seconds: no worker is free, or none runs.' }
  }
  const { status, error, durationMs } = tried
  if (error === '') return { isGood: true, text: `Sent: the receiver answered ${status} after ${durationMs} ms.` }
  return { isGood: false, text: `Not delivered, after ${durationMs} ms: ${error}.` }
}
