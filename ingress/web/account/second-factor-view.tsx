import type { ComponentChildren } from 'preact'
import { totpAddress } from '#shared/tenancy/accounts/second-factor.ts'
import type { SecondFactors } from '#shared/tenancy/accounts/second-factor-store.ts'
import { microsOfDate } from '#shared/time.ts'
import { ButtonForm, Form } from '../forms/form.tsx'
import { TextField } from '../forms/inputs.tsx'
import { Ago, CodeBlock, Copyable, Crumb, QrCode } from '../shell/basics.tsx'
import type { Context } from '../shell/context.ts'
import { Problem } from '../shell/notice.tsx'

/** @param props.passkeyForm null if passkeys are not supported */
export function Factors(props: {
  context: Context
  base: string
  factors: SecondFactors
  passkeyForm: ComponentChildren | null
}) {
  const { context, base, factors } = props
  const { secret } = context.flash
  return (
    <>
      <Head title="Second factor" />
      <div class="settings">
        {secret !== undefined && (
          <section class="card secret-once" aria-labelledby="codes-title">
            <h2 id="codes-title">Your recovery codes</h2>
            <p>
              Each code signs you in once when you have lost your phone or passkey. They are <b>not shown again</b>:
              keep them where you keep your passwords.
            </p>
            <div class="two-columns">
              <CodeBlock text={secret} label="your ten codes" />
            </div>
            <p>
              <a
                class="button"
                download="signalbox-recovery-codes.txt"
                href={`data:text/plain;charset=utf-8,${encodeURIComponent(`${secret}\n`)}`}
              >
                Download
              </a>
            </p>
          </section>
        )}
        <Totp context={context} base={base} isOn={factors.hasTotp} />
        <Passkeys {...props} />
        {(factors.hasTotp || factors.passkeys.length > 0) && (
          <section class="card form-wide" aria-labelledby="recovery-title">
            <div class="card-head">
              <h2 id="recovery-title">Recovery codes</h2>
              <ButtonForm
                context={context}
                action={`${base}/recovery-codes`}
                confirm="Make ten new recovery codes? Those you have open nothing any more."
                yes="Make new codes"
                label="Make new codes"
              />
            </div>
            <p class="muted">{factors.recoveryCodes} of 10 are left. Each works once.</p>
          </section>
        )}
      </div>
    </>
  )
}

function Totp({ context, base, isOn }: { context: Context; base: string; isOn: boolean }) {
  return (
    <section class="card form-wide" aria-labelledby="totp-title">
      <div class="card-head">
        <h2 id="totp-title">
          Authenticator app {isOn ? <span class="pill good">on</span> : <span class="pill">off</span>}
        </h2>
        {isOn ? (
          <ButtonForm
            context={context}
            action={`${base}/remove`}
            confirm="Remove the authenticator app? Its codes are no longer required."
            yes="Remove"
            label="Remove the authenticator app"
            variant="danger"
          />
        ) : (
          <ButtonForm context={context} action={`${base}/totp`} label="Set up" />
        )}
      </div>
      <p class="muted">After the password, a code of six digits from an app on your phone.</p>
    </section>
  )
}

function Passkeys(props: Parameters<typeof Factors>[0]) {
  const { context, base, factors, passkeyForm } = props
  const now = context.deps.now()
  return (
    <section class="card form-wide" aria-labelledby="passkeys-title">
      <h2 id="passkeys-title">Passkeys</h2>
      <p class="muted">
        Your finger, your face or the PIN of your device, instead of the password. A passkey works only on this site,
        which protects you against phishing.
      </p>
      <ul class="bare">
        {factors.passkeys.map(({ credentialId, name, createdAt, usedAt }) => (
          <li key={credentialId} class="row session">
            <span>
              {name}
              <br />
              <small>
                added <Ago at={microsOfDate(createdAt)} now={now} />,{' '}
                {usedAt === null ? (
                  'not used yet'
                ) : (
                  <>
                    last used <Ago at={microsOfDate(usedAt)} now={now} />
                  </>
                )}
              </small>
            </span>
            <ButtonForm
              context={context}
              action={`${base}/remove`}
              confirm={`Remove the passkey “${name}”? It can no longer be used to sign in.`}
              yes="Remove"
              label="Remove"
              variant="danger"
              name={`Remove the passkey ${name}`}
              hidden={{ passkey: credentialId }}
            />
          </li>
        ))}
      </ul>
      {passkeyForm ?? (
        <p class="notice">Passkeys need an address with a name and https; this installation is reached otherwise.</p>
      )}
    </section>
  )
}

/** Shows the secret of an authenticator app as QR code and text, with a field for its first code. */
export function NewTotp(props: {
  context: Context
  base: string
  secret: string
  issuer: string
  email: string
  problem: string | null
}) {
  const { context, base, secret } = props
  return (
    <>
      <Head title="Authenticator app" />
      <section class="card form-wide">
        <ol class="steps">
          <li>
            <p>Point your authenticator app at this code.</p>
            <QrCode text={totpAddress(secret, props.issuer, props.email)} title="Secret for the app" side={180} />
            <p class="hint">
              Or type this there: <Copyable text={secret} label="secret" />
            </p>
          </li>
          <li>
            <p>Type the six digits that it shows.</p>
            <Problem text={props.problem} />
            <Form context={context} action={`${base}/totp/confirm`} class="inline-fields">
              <TextField label="Code" name="code" autocomplete="one-time-code" required maxLength={10} />
              <button type="submit" class="primary">
                Confirm
              </button>
            </Form>
          </li>
        </ol>
      </section>
    </>
  )
}

/** Requires the password, so that an unattended session cannot change the sign-in. */
export function PasswordPrompt({ context, base, problem }: { context: Context; base: string; problem: string | null }) {
  return (
    <>
      <Head title="Second factor" />
      <section class="card form-wide">
        <p>Type your password once more before you change how you sign in.</p>
        <Problem text={problem} />
        <Form context={context} action={base} class="inline-fields">
          <TextField label="Password" name="password" type="password" autocomplete="current-password" />
          <button type="submit" class="primary">
            Go on
          </button>
        </Form>
      </section>
    </>
  )
}

function Head({ title }: { title: string }) {
  return (
    <>
      <Crumb href="/account" label="Account" />
      <h1>{title}</h1>
    </>
  )
}
