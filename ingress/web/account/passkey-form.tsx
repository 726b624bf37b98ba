import type { ComponentChildren } from 'preact'
import { newChallenge, passkeySite, type Site } from '#shared/tenancy/accounts/passkey.ts'
import { type Micros, microsOfSeconds } from '#shared/time.ts'
import { assets } from '../shell/assets.ts'
import type { Context, FormContext } from '../shell/context.ts'
import { field } from '../shell/context.ts'

const CHALLENGE_SECONDS = 3_600

interface SealedChallenge {
  challenge: string
  /** user who creates a passkey; null for a sign-in */
  userId: number | null
  at: Micros
}

/** Returns null if the public URL does not support passkeys. */
export function siteOf({ deps }: Context): Site | null {
  return passkeySite(deps.config.publicUrl, deps.config.siteName)
}

/** Returns a challenge, plain and encrypted for the form. */
export function sealChallenge({ deps }: Context, userId: number | null): { challenge: string; sealed: string } {
  const challenge = newChallenge()
  const content: SealedChallenge = { challenge, userId, at: deps.now() }
  return { challenge, sealed: deps.secrets.seal('passkey', JSON.stringify(content)) }
}

/** Returns the challenge of a form; null if it is for another user or purpose, or expired. */
export function openChallenge({ deps, form }: FormContext, userId: number | null): string | null {
  try {
    const content: SealedChallenge = JSON.parse(deps.secrets.open('passkey', field(form, 'challenge')))
    const isFresh = deps.now() - content.at < microsOfSeconds(CHALLENGE_SECONDS)
    return content.userId === userId && isFresh ? content.challenge : null
  } catch {
    return null
  }
}

/** Shown only if scripts run and the browser supports passkeys. */
export function PasskeyForm(props: {
  context: Context
  action: string
  kind: 'create' | 'get'
  options: object
  sealed: string
  class?: string
  children: ComponentChildren
}) {
  return (
    <>
      <form
        method="post"
        action={props.action}
        class={props.class}
        data-passkey={props.kind}
        data-options={JSON.stringify(props.options)}
        hidden
      >
        <input type="hidden" name="_csrf" value={props.context.csrf} />
        <input type="hidden" name="challenge" value={props.sealed} />
        <input type="hidden" name="answer" value="" />
        {props.children}
      </form>
      <script src={assets.passkey.path} defer />
    </>
  )
}
