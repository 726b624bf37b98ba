import type { Request, Response } from 'express'
import type { Session } from '#shared/tenancy/accounts/session-store.ts'
import type { IngressDeps } from '../../deps.ts'
import type { PingRefusal } from './refusal.ts'

/** Message for the next page. It is shown once, so a reload has no effect. */
export interface Flash {
  notice?: string
  /** form that undoes the action */
  undo?: { action: string; fields: Readonly<Record<string, readonly string[]>> }
  problem?: string
  secret?: string
  /** subject of the secret: a kind of key, a user's address */
  about?: string
}

export interface Context {
  deps: IngressDeps
  request: Request
  response: Response
  params: Readonly<Record<string, string>>
  query: URLSearchParams
  /** forwarding headers count only from trusted proxies */
  address: string
  /** required in every form of this browser */
  csrf: string
  isOwnForm(token: string): boolean
  session: Session | null
  /** message of the previous request; usually empty */
  flash: Flash
  /** set while this process refuses every ping */
  pingRefusal: PingRefusal | null
}

/** A form with a verified token. */
export interface FormContext extends Context {
  form: URLSearchParams
}

/** A form with a file and a verified token. The file is not read yet. */
export interface UploadContext extends FormContext {
  /** null if no file was sent */
  file: AsyncIterable<Buffer> | null
  /** as the browser sent it, without folders */
  fileName: string | null
}

export type PageHandler = (context: Context) => Promise<void> | void
export type FormHandler = (context: FormContext) => Promise<void> | void
export type UploadHandler = (context: UploadContext) => Promise<void> | void

/** Registers handlers; paths are Express's, for example `/checks/:uuid`. */
export interface Pages {
  get(path: string, handler: PageHandler): void
  post(path: string, handler: FormHandler): void
  /** a form of `multipart/form-data`; the file is the last field, of any length */
  upload(path: string, handler: UploadHandler): void
}

export function redirect(context: Context, path: string): void {
  context.response.status(303).set('Location', path).end()
}

export function field(form: URLSearchParams, name: string): string {
  return (form.get(name) ?? '').trim()
}
