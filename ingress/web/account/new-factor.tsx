import { NotFoundError } from '#shared/errors.ts'
import { confirmFactor, findUnconfirmedFactor } from '#shared/tenancy/accounts/second-factor-store.ts'
import { removeUnknownFactor } from '#shared/tenancy/operations/second-factor.ts'
import { ButtonForm } from '../forms/form.tsx'
import { type Context, type FormContext, type Pages, redirect } from '../shell/context.ts'
import { sendPage } from '../shell/layout.tsx'

/** Link of the mail about a new second factor. It works without a session. */
export function newFactorPages(pages: Pages): void {
  pages.get('/account/new-factor/:token', show)
  pages.post('/account/new-factor/:token/confirm', confirm)
  pages.post('/account/new-factor/:token/remove', async (context) => {
    const { db, secrets } = context.deps
    const token = await removeUnknownFactor(digestsOf(context), { db, secrets, address: context.address })
    redirect(context, `/reset-password/${token}`)
  })
}

function digestsOf({ deps, params }: Context): readonly Buffer[] {
  return deps.secrets.digests(`new-factor:${params.token}`)
}

async function show(context: Context): Promise<void> {
  const found = await findUnconfirmedFactor(context.deps.db, digestsOf(context))
  if (!found) throw gone()
  const base = `/account/new-factor/${context.params.token}`
  sendPage(
    context,
    { title: 'New second factor' },
    <section class="card narrow">
      <h1>Did you add this second factor?</h1>
      <p>
        <b class="breakable">{found.name}</b> was added to your account. Until you confirm it, a password reset removes
        it.
      </p>
      <ButtonForm
        context={context}
        action={`${base}/confirm`}
        class="stack"
        label="Yes, confirm it"
        variant="primary"
      />
      <p>If you did not add it, remove it. All sessions end, and you choose a new password.</p>
      <ButtonForm
        context={context}
        action={`${base}/remove`}
        class="stack"
        label="This was not me: remove it"
        variant="danger"
      />
    </section>,
  )
}

async function confirm(context: FormContext): Promise<void> {
  if (!(await confirmFactor(context.deps.db, digestsOf(context)))) throw gone()
  sendPage(
    context,
    { title: 'Second factor confirmed' },
    <section class="card narrow">
      <h1>Second factor confirmed</h1>
      <p>It stays when you reset your password.</p>
      <p>
        <a href="/account">Account</a>
      </p>
    </section>,
  )
}

function gone(): NotFoundError {
  return new NotFoundError('This link has been used, or the second factor is removed already.')
}
