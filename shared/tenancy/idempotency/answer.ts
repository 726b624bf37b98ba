export class Answer<Body extends string | Buffer = string> {
  readonly status: number
  readonly headers: Record<string, string>
  /** JSON, unless the headers name another type; stored and replayed as sent */
  readonly body: Body
  constructor(status: number, body: Body, headers: Record<string, string> = {}) {
    this.status = status
    this.headers = headers
    this.body = body
  }
}

export function jsonAnswer(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return new Answer(status, JSON.stringify(body), headers)
}
