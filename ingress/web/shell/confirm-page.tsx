import { safeNext } from '../account/safe-next.ts'
import { type FormContext, field } from './context.ts'
import { sendPage } from './layout.tsx'
import { surroundings } from './neighbours.ts'

const OWN = new Set(['_csrf', '_question', '_from', '_yes', '_confirmed'])

/**
 * Confirms an action without scripts: renders the question and the same form again. Nothing changes before that form
 * is sent.
 * @param yes label of the confirming button; default as in the dialog
 */
export async function sendConfirmation(context: FormContext, question: string, yes?: string): Promise<void> {
  const { form, request, csrf } = context
  const back = safeNext(form.get('_from') ?? form.get('back'))
  sendPage(
    context,
    { title: 'Are you sure?', ...(await surroundings(context)) },
    <section class="card narrow">
      <h1>Are you sure?</h1>
      <p class="breakable">{question}</p>
      <form method="post" action={request.originalUrl}>
        <input type="hidden" name="_csrf" value={csrf} />
        <input type="hidden" name="_confirmed" value="yes" />
        <Fields form={form} />
        <div class="row">
          <button type="submit" class="danger solid">
            {yes ?? (field(form, '_yes') || 'Yes, go on')}
          </button>
          <a class="button" href={back}>
            Cancel
          </a>
        </div>
      </form>
    </section>,
  )
}

/**
 * Preserves a form whose session had ended. After the user signs in in another tab, this page sends it again. A
 * signed-in user must confirm first, because the account may differ.
 */
export async function sendPreservedForm(context: FormContext): Promise<void> {
  const { form, request, csrf, session } = context
  sendPage(
    context,
    { title: session ? 'Send it again?' : 'Signed out', ...(await surroundings(context)) },
    <section class="card narrow">
      <h1>{session ? 'You have signed in since this form was opened' : 'You are signed out'}</h1>
      <p>Nothing was saved yet, and nothing is lost: this page keeps what you sent.</p>
      {session ? (
        <p class="breakable">You are {session.email} now.</p>
      ) : (
        <ol>
          <li>
            <a href="/sign-in" target="_blank" rel="noopener">
              Sign in
            </a>{' '}
            in a new tab.
          </li>
          <li>Come back here and send it.</li>
        </ol>
      )}
      <form method="post" action={request.originalUrl}>
        <input type="hidden" name="_csrf" value={csrf} />
        <Fields form={form} />
        <button type="submit" class="primary">
          Send it now
        </button>
      </form>
    </section>,
    403,
  )
}

function Fields({ form }: { form: URLSearchParams }) {
  return (
    <>
      {[...form].map(([name, value], index) =>
        OWN.has(name) ? null : <input key={index} type="hidden" name={name} value={value} />,
      )}
    </>
  )
}
