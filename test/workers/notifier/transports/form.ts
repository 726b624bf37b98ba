export const key = '124f983e0e3dcaeba921cfcef46efd084576e783'
export const page = `https://signals.example/checks/${key}`

/** The expected request. */
export interface Sent {
  method?: string
  url?: string
  headers?: Record<string, string>
  /** members of the JSON or form body, compared deeply */
  body?: Record<string, unknown>
  /** texts in the body */
  contains?: string[]
}

/** Configuration, expected requests and the response of one service to a deleted target. */
export interface Kind {
  kind: string
  config: (url: string) => Record<string, unknown>
  down: Sent
  /** null for services without recoveries */
  up: Sent | null
  /** a response that means a permanent failure */
  gone: { status: number; body?: string; error: string | RegExp }
}

export const incoming = (url: string) => ({ url: `${url}/hook/secret` })
export const gone404 = { status: 404, error: 'Received status code 404' }
export const gone410 = { status: 410, error: 'Received status code 410' }
export const slackDown: Sent = {
  method: 'POST',
  url: '/hook/secret',
  contains: ['"db-backup\\" is DOWN', page, '#c62828', 'rows: 42'],
}
export const slackUp: Sent = { url: '/hook/secret', contains: ['is UP, after 1 hour, 30 minutes', '#2e7d32'] }
