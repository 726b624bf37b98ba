import type { ComponentChildren } from 'preact'
import { newChallenge, passkeySite, type Site } from '#shared/tenancy/accounts/passkey.ts'
import { type Micros, microsOfSeconds } from '#shared/time.ts'
import { assets } from '../shell/assets.ts'
import type { Context, FormContext } from '../shell/context.ts'
import { field } from '../shell/context.ts'

/** Validity of the challenge of a page. */
const CHALLENGE_SECONDS = 3_600

interface SealedChallenge {
  challenge: string
  /** the user who creates a passkey; null for signing in */
  userId: number | null
  at: Micros
}

/** Returns the site of the passkeys; null when the public URL does not support them. */
export function siteOf({ deps }: Context): Site | null {
  return passkeySite(deps.config.publicUrl, deps.config.siteName)
}

/** A challenge, and the same sealed, as the form of a page carries it. */
export function sealChallenge({ deps }: Context, userId: number | null): { challenge: string; sealed: string } {
  const challenge = newChallenge()
  const content: SealedChallenge = { challenge, userId, at: deps.now() }
  return { challenge, sealed: deps.secrets.seal('passkey', JSON.stringify(content)) }
}

/** The challenge of a sent form; null when it is not for this person and purpose, or is too old. */
export function openChallenge({ deps, form }: FormContext, userId: number | null): string | null {
  try {
    const content: SealedChallenge = JSON.parse(deps.secrets.open('passkey', field(form, 'challenge')))
    const isFresh = deps.now() - content.at < microsOfSeconds(CHALLENGE_SECONDS)
    return content.userId === userId && isFresh ? content.challenge : null
  } catch {
    return null
  }
}

/** A form that the browser's passkey fills in; there only where scripts run and the browser knows passkeys. */
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
