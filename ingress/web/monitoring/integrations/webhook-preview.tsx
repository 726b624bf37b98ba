import type { WebhookConfig } from '#shared/monitoring/integrations/kinds/webhook.ts'
import type { PlaceholderValues } from '#shared/monitoring/notifications/placeholders.ts'
import { type WebhookRequest, webhookRequest } from '#shared/monitoring/notifications/webhook-request.ts'
import { CodeBlock } from '../../components/form.tsx'

/** A check that is thought up: what is really sent has the values of the check that changes. */
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

/** What a webhook would send, as far as it has an address for it. @param config valid, without stored secrets */
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
