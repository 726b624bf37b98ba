import { safeNext } from '../account/safe-next.ts'
import { type Flash, type FormContext, redirect } from './context.ts'
import { setFlash } from './flash.ts'

/** Goes back to where the form was, with what is said there once. @param otherwise where a form goes that does not say */
export function goBack(context: FormContext, otherwise: string, flash?: Flash): void {
  const back = safeNext(context.form.get('back'))
  const address = back === '/' ? otherwise : back
  if (flash) setFlash(context, address.replace(/[?#].*/, ''), flash)
  redirect(context, address)
}
