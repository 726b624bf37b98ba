export const key = '124f983e0e3dcaeba921cfcef46efd084576e783'
export const page = `https://signals.example/checks/${key}`

/** What one request must look like. */
export interface Sent {
  method?: string
  url?: string
  headers?: Record<string, string>
  /** members of the JSON or form body that must be there, compared deeply */
  body?: Record<string, unknown>
  /** texts that the body must hold somewhere */
  holds?: string[]
}

/** One service: how it is configured, what it must be sent, and how it says that an address is gone. */
export interface Kind {
  kind: string
  config: (url: string) => Record<string, unknown>
  down: Sent
  /** null when recoveries are not this service's business */
  up: Sent | null
  /** an answer after which nothing can be delivered any more */
  gone: { status: number; body?: string; error: string | RegExp }
}

export const incoming = (url: string) => ({ url: `${url}/hook/secret` })
export const gone404 = { status: 404, error: 'Received status code 404' }
export const gone410 = { status: 410, error: 'Received status code 410' }
export const slackDown: Sent = {
  method: 'POST',
  url: '/hook/secret',
  holds: ['"db-backup\\" is DOWN', page, '#c62828', 'rows: 42'],
}
export const slackUp: Sent = { url: '/hook/secret', holds: ['is UP, after 1 hour, 30 minutes', '#2e7d32'] }
