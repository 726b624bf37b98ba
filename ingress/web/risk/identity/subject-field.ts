import { listSubjects } from '#shared/risk/identity/subject-store.ts'
import { words } from '#shared/risk/packs/pdf/figures.ts'
import type { FormField } from '../../forms/fields.tsx'
import type { Context } from '../../shell/context.ts'
import type { Console } from '../console.tsx'
import { subjectState } from './parts.tsx'

const OFFERED = 100

/** Offers the newest subjects, and always the subject of the page or of the submitted form. */
export async function subjectField(
  context: Context,
  console: Console,
  { isRequired, hint }: { isRequired: boolean; hint?: string },
): Promise<FormField> {
  const subjects = await listSubjects(context.deps.db, console, null, OFFERED)
  const named = context.query.get('subjectId') ?? sentSubject(context)
  const options = subjects.map(({ id, ref, kind, state }) => ({
    value: id,
    label: `${ref}, ${words(kind)}, ${subjectState(state)}`,
  }))
  const isListed = !named || subjects.some(({ id }) => id === named)
  return {
    name: 'subjectId',
    label: isRequired ? 'Subject *' : 'Subject',
    kind: 'select',
    isRequired,
    hint,
    options: [
      { value: '', label: isRequired ? 'Choose a subject' : 'None yet' },
      ...(isListed ? [] : [{ value: named, label: named }]),
      ...options,
    ],
  }
}

function sentSubject(context: Context): string | null {
  return 'form' in context && context.form instanceof URLSearchParams ? context.form.get('subjectId') : null
}
