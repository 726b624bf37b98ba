import { NotFoundError } from '#shared/errors.ts'
import { replaceAddress } from '#shared/monitoring/operations/replace-address.ts'
import { insertAudit } from '#shared/tenancy/accounts/audit-store.ts'
import { deleteLinks, findLink, insertLink, useLink } from '#shared/tenancy/accounts/link-store.ts'
import { verifyPassword } from '#shared/tenancy/accounts/password.ts'
import { normalEmail } from '#shared/tenancy/accounts/roles.ts'
import type { Session } from '#shared/tenancy/accounts/session-store.ts'
import { findUser, isTheme, type Theme, type User, updateEmail, updateProfile } from '#shared/tenancy/accounts/store.ts'
import { queueLinkMail } from '#shared/tenancy/operations/link-mails.ts'
import { restoreAddress } from '#shared/tenancy/operations/second-factor.ts'
import { currentPasswordField } from '../forms/fields.tsx'
import { ButtonForm, FieldForm } from '../forms/form.tsx'
import { type Context, type FormContext, field, type Pages, redirect } from '../shell/context.ts'
import { setFlash } from '../shell/flash.ts'
import { sendPage } from '../shell/layout.tsx'
import { newToken } from '../shell/sessions.ts'
import { signedIn } from '../shell/workspace.ts'
import { throttle } from './throttle.ts'

const THEMES: readonly { value: Theme; label: string }[] = [
  { value: '', label: 'As this device has it' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
]

export function youPages(pages: Pages): void {
  pages.post('/account/name', async (context) => {
    const { session } = await signedIn(context)
    const theme = field(context.form, 'theme')
    const name = field(context.form, 'name').slice(0, 100)
    await updateProfile(context.deps.db, session.userId, { name, theme: isTheme(theme) ? theme : '' })
    redirect(context, '/account?done=name-changed')
  })
  pages.get('/account/address/:token', async (context) => {
    const { link } = await openLink(context, 'change-address')
    sendPage(
      context,
      { title: 'New address' },
      <section class="card narrow">
        <h1>Use this address?</h1>
        <p>
          From then on you sign in as <b class="breakable">{link.email}</b>, and mails about your account go there.
        </p>
        <ButtonForm
          context={context}
          action={context.request.path}
          class="stack"
          label="Use this address"
          variant="primary"
        />
      </section>,
    )
  })
  pages.post('/account/address/:token', useAddress)
  pages.get('/account/former-address/:token', async (context) => {
    const { link } = await openLink(context, 'restore-address')
    sendPage(
      context,
      { title: 'Former address' },
      <section class="card narrow">
        <h1>Restore this address?</h1>
        <p>
          The account gets the address <b class="breakable">{link.email}</b> back. All sessions end, second factors that
          were added since the change are removed, and you choose a new password.
        </p>
        <ButtonForm
          context={context}
          action={context.request.path}
          class="stack"
          label="This was not me: restore it"
          variant="danger"
        />
      </section>,
    )
  })
  pages.post('/account/former-address/:token', async (context) => {
    const { link, user } = await openLink(context, 'restore-address')
    const { db, secrets } = context.deps
    const token = await restoreAddress(link, user, { db, secrets, address: context.address, replaceAddress })
    redirect(context, `/reset-password/${token}`)
  })
}

/**
 * Mails a link to the new address, which becomes valid only with that link.
 * @returns the error of the form; null if the mail was stored
 */
export async function sendAddressConfirmation(context: FormContext): Promise<string | null> {
  const { session } = await signedIn(context)
  const { deps, form } = context
  await throttle(context, 'password', session.email)
  const user = await findUser(deps.db, session.userId)
  const isRight = !user?.passwordHash || (await verifyPassword(user.passwordHash, form.get('present') ?? ''))
  if (!isRight) return 'That is not the current password.'
  const email = normalEmail(field(form, 'email'))
  if (email === null) return 'The new address is not an e-mail address.'
  if (email === session.email) return 'That is your address already.'
  if (deps.config.smtpUrl === undefined)
    return 'This installation sends no mail, so the new address cannot be verified.'
  // Only the owner of an address, who gets the mail, may learn that it has an account.
  const token = newToken()
  await deps.outbox.run(async (tx, enqueue) => {
    await deleteLinks(tx, 'change-address', session.userId)
    const digest = deps.secrets.digest(`change-address:${token}`)
    await insertLink(tx, { purpose: 'change-address', digest, userId: session.userId, email })
    await queueLinkMail(tx, enqueue, deps, {
      to: email,
      subject: `Confirm your new e-mail address for ${deps.config.siteName}`,
      lead: `The account ${session.email} wants to sign in with this address. The link is valid for one day.`,
      action: 'Confirm this address',
      path: `/account/address/${token}`,
      foot: 'If you did not request this, ignore this mail. Nothing has changed.',
    })
  })
  setFlash(context, '/account', {
    notice: `A link to confirm it is on its way to ${email}. Until then nothing changes.`,
  })
  return null
}

async function openLink(context: Context, purpose: 'change-address' | 'restore-address') {
  const { db, secrets } = context.deps
  const link = await findLink(db, purpose, secrets.digests(`${purpose}:${context.params.token}`))
  const user = link?.userId ? await findUser(db, link.userId) : null
  if (!link || !user) throw new NotFoundError('This link has been used or is too old. Ask for another one.')
  return { link, user }
}

/** Mails a link to the old address that restores it; earlier links to it become invalid. */
async function useAddress(context: FormContext): Promise<void> {
  const { deps, address } = context
  const { link, user } = await openLink(context, 'change-address')
  await deps.outbox.run(async (tx, enqueue) => {
    if (!(await useLink(tx, link.id))) throw new NotFoundError('This link was used a moment ago.')
    if (!(await updateEmail(tx, user.id, link.email))) {
      throw new NotFoundError('Another account has this address. Sign in with it, or choose another one.')
    }
    await replaceAddress(tx, user.id, user.email, link.email)
    await deleteLinks(tx, 'reset-password', user.id)
    const entry = { userId: user.id, actor: user.email, action: 'address.changed', target: link.email, address }
    await insertAudit(tx, { ...entry, organisationId: null })
    const token = newToken()
    const digest = deps.secrets.digest(`restore-address:${token}`)
    await insertLink(tx, { purpose: 'restore-address', digest, userId: user.id, email: user.email })
    await queueLinkMail(tx, enqueue, deps, {
      to: user.email,
      subject: `Your e-mail address at ${deps.config.siteName} has changed`,
      lead: `You now sign in as ${link.email}. If you did not change it, restore this address within seven days.`,
      action: 'Restore this address',
      path: `/account/former-address/${token}`,
      foot: 'If you changed it, no action is needed. This is the last mail to this address.',
    })
  })
  if (context.session?.userId === user.id)
    setFlash(context, '/account', { notice: `You sign in as ${link.email} from now on.` })
  redirect(context, '/account')
}

export function You(props: { context: Context; session: Session; user: User | null; problem: string | null }) {
  const { context, session, user, problem } = props
  return (
    <section class="card" aria-labelledby="you">
      <h2 id="you">You</h2>
      {user?.isEmailVerified === false && (
        <p class="notice">
          This address is not verified. <a href="/reset-password">Request a mail</a> and choose a password with its
          link.
        </p>
      )}
      <FieldForm
        context={context}
        action="/account/name"
        class="inline-fields"
        items={[
          { name: 'name', label: 'Name', value: session.name, autocomplete: 'name', maxLength: 100 },
          { name: 'theme', label: 'Theme', kind: 'select', value: session.theme, options: THEMES },
        ]}
        submit="Save"
      />
      <h3>E-mail address</h3>
      <p class="muted breakable">{session.email}</p>
      <details open={problem !== null}>
        <summary>Change the address</summary>
        <FieldForm
          context={context}
          action="/account/address"
          problem={problem}
          items={[
            { name: 'email', label: 'New address', kind: 'email', autocomplete: 'email', isRequired: true },
            ...(user?.passwordHash === null ? [] : [currentPasswordField('present', 'Your password')]),
          ]}
          submit="Send a link to the new address"
        />
      </details>
    </section>
  )
}
