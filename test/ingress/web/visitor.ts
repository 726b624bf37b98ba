import { type Answer, send } from '../../support/send.ts'

/** A browser without a screen: keeps cookies, carries form tokens, follows nothing by itself. */
export interface Visitor {
  cookies: Map<string, string>
  get(path: string, headers?: Record<string, string>): Promise<Answer>
  /** opens the page that has the form, and sends it with that page's token */
  post(path: string, fields: Record<string, string>, page?: string): Promise<Answer>
  /** sends exactly these fields */
  send(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<Answer>
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
