import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Express } from 'express'

// PUBLIC_URL may have a path (docs/adr/0025). It is removed from requests before routing and added to responses, so that
// routes and pages know only addresses from the root.

/** Attributes of our pages that contain addresses. The renderer escapes quotation marks in texts and in values. */
const ADDRESS_ATTRIBUTE = /( (?:href|src|action|formaction|data-(?:live|up|down|preview))=")(\/[^"]*)/gi
const LINK_TARGET = /<(\/[^>]*)>/g
/** The links of an API object that is not finished, or of a list. They are no part of anchored objects. */
const API_LINKS = /"links":\{"self":"\/[^{}]*\}/g

/** Header with the path of a request as it arrived. */
export const ARRIVED_PATH = 'X-Signalbox-Path'
const WITH_BASE = new WeakSet<IncomingMessage>()

/** Adds the base path to an address from the root; other addresses, and those that have it already, stay unchanged. */
export function withBase(basePath: string, address: string): string {
  if (basePath === '' || !address.startsWith('/') || address.startsWith('//')) return address
  return address === basePath || address.startsWith(`${basePath}/`) ? address : basePath + address
}

/** Adds the base path to the addresses of a rendered page. */
export function pageWithBase(basePath: string, html: string): string {
  if (basePath === '') return html
  return html.replace(ADDRESS_ATTRIBUTE, (_, start: string, address: string) => start + withBase(basePath, address))
}

/** Adds the base path to the member `links` of a JSON text. */
export function jsonWithBase(basePath: string, json: string): string {
  return basePath === '' ? json : json.replace(API_LINKS, (links) => links.replaceAll('":"/', `":"${basePath}/`))
}

/** Makes all responses of an application add the base path to the headers `Location` and `Link`. */
export function addBaseToHeaders(app: Express, basePath: string): void {
  if (basePath === '') return
  const { setHeader } = app.response
  app.response.setHeader = function (name, value) {
    return setHeader.call(this, name, typeof value === 'string' ? headerWithBase(basePath, name, value) : value)
  }
}

function headerWithBase(basePath: string, name: string, value: string): string {
  if (/^location$/i.test(name)) return withBase(basePath, value)
  if (!/^link$/i.test(name)) return value
  return value.replace(LINK_TARGET, (_, address: string) => `<${withBase(basePath, address)}>`)
}

/**
 * Returns a function that removes the base path from the address of a request. Well-known addresses may end with it,
 * because clients request the metadata of an issuer with a path there (RFC 8414, RFC 9728). The function
 * redirects the base path without a slash, because its cookies are not sent there, and then returns false.
 */
export function createBaseRemover(basePath: string): (request: IncomingMessage, response: ServerResponse) => boolean {
  if (basePath === '') return () => true
  const start = `${basePath}/`
  const inserted = new RegExp(`^(/\\.well-known/[^/?]+)${basePath.replaceAll('.', '\\.')}(?=[/?]|$)`)
  return (request, response) => {
    const { url = '' } = request
    if (url.startsWith(start)) {
      request.url = url.slice(basePath.length)
      WITH_BASE.add(request)
    } else if (url.startsWith('/.well-known/')) request.url = url.replace(inserted, '$1')
    else if (url === basePath || url.startsWith(`${basePath}?`)) {
      response.writeHead(308, { Location: start + url.slice(basePath.length), 'Content-Length': '0' }).end()
      return false
    }
    return true
  }
}

/** Returns true if the request arrived with the base path, so that no proxy has removed it. */
export function arrivedWithBase(request: IncomingMessage): boolean {
  return WITH_BASE.has(request)
}
