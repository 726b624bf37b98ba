import type { ListedSession } from '#shared/tenancy/accounts/session-store.ts'
import { microsOfDate } from '#shared/time.ts'
import { ButtonForm } from '../forms/form.tsx'
import { Ago } from '../shell/basics.tsx'
import type { Context } from '../shell/context.ts'

/** @param props.own id of the current session */
export function Sessions(props: { context: Context; own: number; sessions: readonly ListedSession[] }) {
  const { context, own, sessions } = props
  const now = context.deps.now()
  const others = sessions.filter(({ id }) => id !== own).length
  return (
    <section class="card" aria-labelledby="sessions">
      <div class="card-head">
        <h2 id="sessions">Where you are signed in</h2>
        {others > 0 && (
          <ButtonForm
            context={context}
            action="/sign-out-everywhere"
            confirm={`Sign out everywhere else? That ${others === 1 ? 'is one browser, which has' : `are ${others} browsers, which have`} to sign in again.`}
            yes="Sign out"
            label="Sign out everywhere else"
          />
        )}
      </div>
      <ul class="bare">
        {sessions.map((one) => (
          <li key={one.id} class="row session">
            <span title={one.agent}>
              {agentName(one.agent)} {one.id === own && <span class="pill good">this one</span>}
              <br />
              <small>
                {one.address}, last used <Ago at={microsOfDate(one.seenAt)} now={now} />
              </small>
            </span>
            {one.id !== own && (
              <ButtonForm
                context={context}
                action={`/account/sessions/${one.id}/end`}
                confirm={`Sign out ${agentName(one.agent)} at ${one.address}? It has to sign in again.`}
                yes="Sign out"
                label="Sign out"
                variant="quiet"
                name={`Sign out ${agentName(one.agent)} at ${one.address}`}
              />
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const
const SYSTEMS = [
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Android', 'Android'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['CrOS', 'ChromeOS'],
  ['Linux', 'Linux'],
] as const

/** `Firefox on Windows`; other user agents are shown unchanged, but truncated. */
export function agentName(agent: string): string {
  const browser = BROWSERS.find(([token]) => agent.includes(token))?.[1]
  const system = SYSTEMS.find(([token]) => agent.includes(token))?.[1]
  if (browser === undefined) return agent.slice(0, 60) || 'Unknown browser'
  return system === undefined ? browser : `${browser} on ${system}`
}
