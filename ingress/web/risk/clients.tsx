import { listConsoleClients, listEntitlements } from '#shared/risk/risk-console/store.ts'
import { FAMILIES } from '#shared/tenancy/oauth/families.ts'
import { microsOfDate } from '#shared/time.ts'
import { Ago } from '../components/time.tsx'
import type { Context, Pages } from '../frame/context.ts'
import { CONSOLE, openConsole, sendConsole } from './console.tsx'

/** Who may call the API for this organisation, and what the organisation is entitled to. */
export function clientPages(pages: Pages): void {
  pages.get(`${CONSOLE}/clients`, showClients)
}

async function showClients(context: Context): Promise<void> {
  const console = await openConsole(context, 'view')
  const { db, now } = context.deps
  const [clients, entitlements] = await Promise.all([
    listConsoleClients(db, console),
    listEntitlements(db, console.organisationId),
  ])
  const held = new Set(entitlements.map(({ family }) => family))
  sendConsole(
    context,
    console,
    { title: 'Clients', tab: 'clients' },
    <>
      <h1>Clients and entitlements</h1>
      <section class="card" aria-labelledby="families">
        <h2 id="families">Entitlements</h2>
        <p class="muted">A call needs all three: the family here, the scope on the client, the scope in its token.</p>
        <ul class="tags">
          {FAMILIES.map((family) => (
            <li key={family}>
              <span class={held.has(family) ? 'pill good' : 'pill'}>
                {family}: {held.has(family) ? 'granted' : 'not granted'}
              </span>
            </li>
          ))}
        </ul>
      </section>
      {clients.length === 0 && (
        <p class="empty">No client in this environment yet. The operator's command line makes them.</p>
      )}
      {clients.map((client) => (
        <section class="card" key={client.clientId} aria-label={client.name}>
          <div class="card-head">
            <h2>{client.name}</h2>
            <span class={client.disabledAt ? 'pill bad' : 'pill good'}>
              {client.disabledAt ? 'disabled' : 'active'}
            </span>
          </div>
          <dl class="facts">
            <div>
              <dt>Client id</dt>
              <dd class="mono breakable">{client.clientId}</dd>
            </div>
            <div>
              <dt>Secrets</dt>
              <dd class="mono">{client.secretPrefixes.map((prefix) => `${prefix}…`).join(', ') || 'none'}</dd>
            </div>
            <div>
              <dt>Scopes</dt>
              <dd class="breakable">{client.scopes.join(', ')}</dd>
            </div>
            <div>
              <dt>Created</dt>
              <dd>
                <Ago at={microsOfDate(client.createdAt)} now={now()} />
              </dd>
            </div>
          </dl>
        </section>
      ))}
    </>,
  )
}
