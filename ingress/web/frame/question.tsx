import type { FormContext } from './context.ts'
import { sendPage } from './layout.tsx'

/** What carries a form's own bookkeeping; a question puts it in anew. */
const OWN = new Set(['_csrf', '_question', '_confirmed'])

/**
 * Asks before something is lost, where no script could: a page with the question and the same form once more. Nothing
 * is changed before that form is sent.
 */
export function sendQuestion(context: FormContext, question: string, yes = 'Yes, go on'): void {
  const { form, request, csrf } = context
  const back = form.get('back') ?? ''
  sendPage(
    context,
    { title: 'Are you sure?' },
    <section class="card narrow">
      <h1>Are you sure?</h1>
      <p class="breakable">{question}</p>
      <form method="post" action={request.originalUrl}>
        <input type="hidden" name="_csrf" value={csrf} />
        <input type="hidden" name="_confirmed" value="yes" />
        {[...form].map(([name, value], index) =>
          OWN.has(name) ? null : <input key={index} type="hidden" name={name} value={value} />,
        )}
        <p class="row">
          <button type="submit" class="danger solid">
            {yes}
          </button>
          <a class="button" href={back.startsWith('/') && !back.startsWith('//') ? back : '/'}>
            Cancel
          </a>
        </p>
      </form>
    </section>,
  )
}
