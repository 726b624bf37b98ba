import { words } from '#shared/risk/packs/pdf/figures.ts'
import { microsOfDate } from '#shared/time.ts'
import type { Delivery } from '#shared/webhooks/delivery-store.ts'
import type { Endpoint, DeliveryState as State } from '#shared/webhooks/endpoint.ts'
import { Ago } from '../shell/basics.tsx'

/** Returns the ids of active endpoints whose last attempt failed. */
export function failing(endpoints: readonly Endpoint[]): string[] {
  return endpoints.filter(({ state, failures }) => state === 'ACTIVE' && failures > 0).map(({ id }) => id)
}

/** A failing endpoint also shows its next attempt. */
export function EndpointState(props: { endpoint: Endpoint; next: Date | undefined; now: number }) {
  const { endpoint, next, now } = props
  const { state, reason, failures } = endpoint
  if (state === 'ACTIVE' && failures > 0) {
    return (
      <span>
        <span class="pill bad">failing, {failures} in a row</span>{' '}
        {next && (
          <small>
            next attempt {microsOfDate(next) > now ? <Ago at={microsOfDate(next)} now={now} /> : 'in a moment'}
          </small>
        )}
      </span>
    )
  }
  return (
    <span>
      <span class={state === 'ACTIVE' ? 'pill good' : 'pill bad'}>{stateLabels[state]}</span>{' '}
      {reason && <small>{reasonLabels[reason]}</small>}
    </span>
  )
}

const stateLabels = {
  ACTIVE: 'active',
  DISABLED: 'switched off',
  DISABLED_FAILING: 'switched off by the service',
  BLOCKED: 'switched off by the service',
} as const
const reasonLabels = {
  FAILING: 'every attempt failed for five days',
  GONE: 'it answered 410 Gone',
  ADDRESS: 'its address is not allowed',
} as const

/** A pending delivery with a failed attempt is being retried. */
export function DeliveryState({ state, attempts }: Pick<Delivery, 'state' | 'attempts'>) {
  if (state === 'PENDING' && attempts > 0) return <span class="pill late">retrying</span>
  const isBad = state === 'FAILED' || state === 'EXHAUSTED'
  const look = state === 'DELIVERED' ? 'pill good' : isBad ? 'pill bad' : 'pill'
  return <span class={look}>{state === 'SUPPRESSED_SANDBOX' ? 'not sent: sandbox' : words(state)}</span>
}

export const deliveryMeanings: Readonly<Record<State, string>> = {
  PENDING: 'Waits for its first or next attempt. There are up to ten attempts in about three days.',
  DELIVERED: 'The endpoint answered with a 2xx status.',
  FAILED: 'No retry can succeed: the endpoint answered 410, or its URL is not allowed.',
  EXHAUSTED: 'All ten attempts failed. Repair the endpoint, then resend or replay.',
  SUPPRESSED: 'Not sent, because the endpoint was switched off. Switch it on, then replay.',
  SUPPRESSED_SANDBOX: 'Signed and stored, but not sent: endpoints of the sandbox are never contacted.',
  CANCELLED: 'Not sent, because the endpoint was deleted.',
}

/** Events about an endpoint contain its id in place of a deal. */
export function isAboutEndpoint({ eventType }: Pick<Delivery, 'eventType'>): boolean {
  return eventType.startsWith('webhook.')
}
