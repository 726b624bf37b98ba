import { SHARE_DAYS } from '#shared/risk/packs/policy.ts'
import type { PackShare } from '#shared/risk/risk-console/store.ts'
import { microsOfDate } from '#shared/time.ts'
import { ButtonForm } from '../forms/form.tsx'
import { Ago, Copyable } from '../shell/basics.tsx'
import type { Context } from '../shell/context.ts'
import { type Console, mayIn } from './console.tsx'

export function hasShareCard(console: Console, shares: readonly PackShare[]): boolean {
  return mayIn(console, 'manage') || shares.length > 0
}

/** Links by which users without an account see this pack. */
export function ShareCard(props: {
  context: Context
  console: Console
  path: string
  shares: readonly PackShare[]
  link: string | null
  now: number
}) {
  const { context, console, path, shares, link, now } = props
  const mayShare = mayIn(console, 'manage')
  return (
    <section class="card" id="shares" aria-labelledby="shares-title">
      <h2 id="shares-title">Share links</h2>
      <p class="muted">
        Anyone with a link can see this pack and its PDF, for {SHARE_DAYS} days or until it is revoked.
      </p>
      {link && (
        <div class="notice secret-once" role="status">
          <p>Copy the link now: it is not shown again.</p>
          <Copyable text={link} label="the link" />
        </div>
      )}
      {shares.length > 0 && (
        <ul class="bare">
          {shares.map((share) => (
            <li key={share.id} class="row">
              <span class={stateOf(share, now) === 'works' ? 'pill good' : 'pill'}>{stateOf(share, now)}</span>
              <span>
                by {share.createdBy}, <Ago at={microsOfDate(share.createdAt)} now={now} />
              </span>
              {mayShare && stateOf(share, now) === 'works' && (
                <ButtonForm
                  context={context}
                  action={`${path}/shares/${share.id}/revoke`}
                  confirm="Revoke this link? It stops working at once."
                  yes="Revoke"
                  label="Revoke"
                  variant="danger"
                />
              )}
            </li>
          ))}
        </ul>
      )}
      {mayShare && <ButtonForm context={context} action={`${path}/shares`} class="foot" label="Create a share link" />}
    </section>
  )
}

function stateOf({ revokedAt, expiresAt }: PackShare, now: number): string {
  if (revokedAt) return 'revoked'
  return microsOfDate(expiresAt) > now ? 'works' : 'expired'
}
