import { type Answer, send } from '../../support/send.ts'

/** An HTTP client with cookies and form tokens. It does not follow redirects. */
export interface Visitor {
  cookies: Map<string, string>
  get(path: string, headers?: Record<string, string>): Promise<Answer>
  /** opens the page that has the form, and sends it with that page's token */
  post(path: string, fields: Record<string, string>, page?: string): Promise<Answer>
  /** sends exactly these fields */
  send(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<Answer>
  /** sends exactly this body */
  sendBody(path: string, body: string, headers: Record<string, string>): Promise<Answer>
  token(page: string): Promise<string>
}

export function createVisitor(base: string): Visitor {
  const cookies = new Map<string, string>()

  async function request(path: string, method: 'GET' | 'POST', headers: Record<string, string>, body?: string) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await send(base, path, {
      method,
      headers: { ...(cookie !== '' && { cookie }), ...headers },
      ...(body !== undefined && { body }),
    })
    for (const line of answer.headers['set-cookie'] ?? []) {
      const [pair = ''] = line.split(';')
      const at = pair.indexOf('=')
      if (/Max-Age=0(;|$)/.test(line)) cookies.delete(pair.slice(0, at))
      else cookies.set(pair.slice(0, at), pair.slice(at + 1))
    }
    return answer
  }

  const visitor: Visitor = {
    cookies,
    get: (path, headers = {}) => request(path, 'GET', headers),
    send: (path, fields, headers = {}) =>
      request(
        path,
        'POST',
        { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        new URLSearchParams(fields).toString(),
      ),
    sendBody: (path, body, headers) => request(path, 'POST', headers, body),
    async token(page) {
      const { text } = await visitor.get(page)
      return /name="_csrf" value="([^"]+)"/.exec(text)?.[1] ?? ''
    },
    async post(path, fields, page = path) {
      return await visitor.send(path, { _csrf: await visitor.token(page), ...fields })
    },
  }
  return visitor
}

/** Returns the default values of the largest form of a page. Of several fields with one name it returns the last. */
export function fieldsOf(html: string): Record<string, string> {
  const form = [...html.matchAll(/<form[\s\S]*?<\/form>/g)]
    .map(([text]) => text)
    .reduce((largest, text) => (text.length > largest.length ? text : largest), '')
  const attribute = (tag: string, name: string) => new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1]
  const fields: Record<string, string> = {}
  for (const [tag] of form.matchAll(/<input[^>]*>/g)) {
    const [name, type] = [attribute(tag, 'name'), attribute(tag, 'type')]
    const isSent = !(type === 'checkbox' || type === 'radio') || / checked/.test(tag)
    if (name !== undefined && isSent) fields[name] = attribute(tag, 'value') ?? ''
  }
  for (const [, open = '', inner = ''] of form.matchAll(/<select([^>]*)>([\s\S]*?)<\/select>/g)) {
    const options = [...inner.matchAll(/<option[^>]*>/g)].map(([option]) => option)
    const chosen = options.find((option) => / selected/.test(option)) ?? options[0] ?? ''
    fields[attribute(open, 'name') ?? ''] = attribute(chosen, 'value') ?? ''
  }
  return fields
}
