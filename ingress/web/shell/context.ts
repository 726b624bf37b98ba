import type { Request, Response } from 'express'
import type { Session } from '#shared/tenancy/accounts/session-store.ts'
import type { IngressDeps } from '../../deps.ts'
import type { PingRefusal } from './refusal.ts'

/**
 * Message that one page leaves for the next page, shown once: reloading that page neither shows nor does anything
 * again.
 */
export interface Flash {
  /** success message */
  notice?: string
  /** the form that takes it back, and what it sends */
  undo?: { action: string; fields: Readonly<Record<string, readonly string[]>> }
  /** error message with its reason */
  problem?: string
  /** a key or a link that cannot be shown again */
  secret?: string
  /** subject of the secret: a kind of key, a person's address */
  about?: string
}

/** One request for a page, as its handler gets it. */
export interface Context {
  deps: IngressDeps
  request: Request
  response: Response
  params: Readonly<Record<string, string>>
  query: URLSearchParams
  /** address of the client; forwarding headers count only from trusted proxies */
  address: string
  /** CSRF token that every form of this browser must contain */
  csrf: string
  /** true if the token was made for this browser */
  isOwnForm(token: string): boolean
  /** null if not signed in */
  session: Session | null
  /** message of the previous request for this page; mostly empty */
  flash: Flash
  /** that this process refuses every ping now; null while it takes them */
  pingRefusal: PingRefusal | null
}

/** A sent form; its token has been verified. */
export interface FormContext extends Context {
  form: URLSearchParams
}

/** A sent form with a file; its token has been verified, and of the file nothing is read. */
export interface UploadContext extends FormContext {
  /** the bytes as they come; null when no file was sent */
  file: AsyncIterable<Buffer> | null
}

export type PageHandler = (context: Context) => Promise<void> | void
export type FormHandler = (context: FormContext) => Promise<void> | void
export type UploadHandler = (context: UploadContext) => Promise<void> | void

/** Registers handlers. Paths are Express's, `/checks/:uuid`. */
export interface Pages {
  get(path: string, handler: PageHandler): void
  post(path: string, handler: FormHandler): void
  /** a form of `multipart/form-data` whose file is its last field, and may be of any length */
  upload(path: string, handler: UploadHandler): void
}

/** Redirects the browser to another page of this application, with GET. */
export function redirect(context: Context, path: string): void {
  context.response.status(303).set('Location', path).end()
}

/** A field of a form as it was typed, without the blanks around it. */
export function field(form: URLSearchParams, name: string): string {
  return (form.get(name) ?? '').trim()
}
